"""The native lane in the service: what it does once the gate has let a request through."""
