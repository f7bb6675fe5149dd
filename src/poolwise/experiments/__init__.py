"""The paper's tables and figures; ``poolwise reproduce`` makes them."""
