"""cuescope from Python: one function for an audit, and objects of the caller in place of SPECs."""
