"""What shell.status says of the prompt: the shell's word, checked against the process table."""

from __future__ import annotations

from termnode.paneshell.prompt.state import EVALUATING, EXITING, PROMPT_READY, PromptState
from termnode.paneshell.status import FOREGROUND_CHILD, NO_PROMPT, Observation, PromptView


def merged(seen: Observation, state: PromptState) -> Observation:
    """The phase and directory, as the process table and the shell's own word together say."""
    if state.phase == EXITING:
        return Observation(EXITING, None)
    told = state.phase in (PROMPT_READY, EVALUATING) and not state.hooks_lost
    if not told or seen.phase in (EXITING, FOREGROUND_CHILD):
        return seen
    return Observation(state.phase, seen.cwd)


def view(state: PromptState, binding_generation: int) -> PromptView:
    """The prompt; ``binding_generation`` is of the record that tells it."""
    if not state.known:
        return NO_PROMPT
    return PromptView(
        source="lost" if state.hooks_lost else "integration",
        generation=state.generation,
        binding_generation=binding_generation,
        continuation=state.continuation,
        command_id=state.running_op,
    )
