"""Robot files and logs of others: rules, repair, parity of engines, own logs."""
