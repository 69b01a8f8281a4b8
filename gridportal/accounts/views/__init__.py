"""Pages of the accounts: signing in and out, one's own account, the audit trail, the health check."""
