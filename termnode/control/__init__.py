"""What may be asked of the service and what becomes of it: verbs, checks, retries, audit."""
