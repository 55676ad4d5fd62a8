from __future__ import annotations

import logging
import queue

import grpc
import trustme

import campanile
from conftest import PATIENCE, Node


@campanile.processor("idle")
def idle(_task):
    return None


def secured(of, *, known=None):
    key, certificate = of.private_key_pem.bytes(), of.cert_chain_pems[0].bytes()
    trusted = known.cert_pem.bytes() if known else None
    return Node(grpc.ssl_server_credentials([(key, certificate)], trusted, require_client_auth=known is not None))


def test_a_stream_is_secured_both_ways():
    ca = trustme.CA()
    own = ca.issue_cert("executor@example.org")
    node = secured(ca.issue_cert("127.0.0.1"), known=ca)
    tls = campanile.TLS(
        ca=ca.cert_pem.bytes(), certificate=own.cert_chain_pems[0].bytes(), key=own.private_key_pem.bytes()
    )
    node.runs(idle, token="for g", tls=tls)
    s = node.joined()
    assert s.register.token == "for g"
    s.push("a", "idle")
    s.hears("a 1 accepted", "a 2 started", "a 3 succeeded null")
    node.stop()


def test_a_node_that_cannot_prove_itself_is_not_spoken_to(caplog):
    told = queue.Queue()
    handler = logging.Handler()
    handler.emit = lambda record: told.put(record.getMessage())
    logger = logging.getLogger("campanile")
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    node = secured(trustme.CA().issue_cert("127.0.0.1"))
    node.runs(idle, tls=campanile.TLS(ca=trustme.CA().cert_pem.bytes()))
    # The second try, too, comes after the first was given up.
    for _ in range(2):
        assert "no stream" in told.get(timeout=PATIENCE)
    assert node.streams.empty()
    node.stop()
    logger.removeHandler(handler)
