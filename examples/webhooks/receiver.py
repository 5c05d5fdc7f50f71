# Run it with WEBHOOK_SECRET='whsec_…' python3 receiver.py. docs/webhooks.md explains the messages.
import base64
import hashlib
import hmac
import json
import os
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRETS = os.environ["WEBHOOK_SECRET"].split()
# A real receiver keeps these ids where it keeps the signups.
done = set()


def is_genuine(headers, body):
    message_id = headers.get("webhook-id", "")
    sent_at = headers.get("webhook-timestamp", "")
    given = headers.get("webhook-signature", "").split()
    if not sent_at.isdecimal() or abs(time.time() - int(sent_at)) > 300:
        return False
    signed = f"{message_id}.{sent_at}.".encode() + body
    for secret in SECRETS:
        key = base64.b64decode(secret[len("whsec_") :])
        digest = hmac.new(key, signed, hashlib.sha256).digest()
        expected = b"v1," + base64.b64encode(digest)
        if any(hmac.compare_digest(expected, one.encode()) for one in given):
            return True
    return False


def work(message):
    data = message["data"]
    print(message["type"], data.get("id", ""), data.get("email", ""), flush=True)


class Receiver(BaseHTTPRequestHandler):
    timeout = 30

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", "0")))
        if not is_genuine(self.headers, body):
            status = 401
        else:
            # When this fails, the connection breaks, and Rollcall sends the message again.
            if self.headers["webhook-id"] not in done:
                work(json.loads(body))
            done.add(self.headers["webhook-id"])
            status = 204
        self.send_response(status)
        self.end_headers()

    def log_message(self, *args):
        pass


ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "4000"))), Receiver).serve_forever()
