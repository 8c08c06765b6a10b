"""What Python's ipaddress makes of texts: one JSON array of texts a line in, one array of readings a line out.

A reading is [host, network, is_global]: host and network in Python's spelling, an IPv4-mapped address as its IPv4,
null for what Python refuses; is_global of the host, null without one.
"""

import ipaddress
import json
import sys


def host_of(text):
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def network_of(text):
    try:
        return str(ipaddress.ip_network(text, strict=False))
    except ValueError:
        return None


def reading(text):
    host = host_of(text)
    return [None if host is None else str(host), network_of(text), None if host is None else host.is_global]


for line in sys.stdin:
    print(json.dumps([reading(text) for text in json.loads(line)], separators=(",", ":")), flush=True)
