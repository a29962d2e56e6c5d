"""What HTTP services share: sockets, an orderly stop, checked Host headers, limited bodies and connections."""
