"""A mail server for tests, on a free port of this machine. The argument describes it, as JSON.

It writes its port to standard output, then each mail that it took, a JSON object a line, and ends with its input."""

import asyncio
import base64
import json
import ssl
import sys

from aiosmtpd.smtp import SMTP, AuthResult, LoginPassword

like = json.loads(sys.argv[1])


def tell(value):
    print(json.dumps(value), flush=True)


class Handler:
    async def handle_RCPT(self, server, session, envelope, address, options):
        if address in like.get("refused", []):
            return "550 no such user"
        if like.get("full"):
            return "452 try again later"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        tell(
            {
                "from": envelope.mail_from,
                "to": envelope.rcpt_tos,
                "data": base64.b64encode(envelope.original_content).decode(),
                "tls": server.transport.get_extra_info("sslcontext") is not None,
                "user": (session.auth_data.login.decode() if session.authenticated else None),
            }
        )
        return "250 OK"


def authenticate(server, session, envelope, mechanism, data):
    isRight = isinstance(data, LoginPassword) and [data.login.decode(), data.password.decode()] == like["login"]
    return AuthResult(success=isRight, handled=False, auth_data=data if isRight else None)


async def main():
    context = None
    if "certificate" in like:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(like["certificate"], like["key"])
    starts = like.get("security") == "starttls"

    def protocol():
        options = {"hostname": "localhost", "enable_SMTPUTF8": like.get("unicode", False)}
        if starts:
            options |= {"tls_context": context, "require_starttls": True}
        if "login" in like:
            options |= {
                "authenticator": authenticate,
                "auth_required": True,
                "auth_require_tls": starts,
                "auth_exclude_mechanism": like.get("excluded"),
            }
        return SMTP(Handler(), **options)

    loop = asyncio.get_running_loop()
    direct = context if like.get("security") == "tls" else None
    server = await loop.create_server(protocol, "127.0.0.1", 0, ssl=direct)
    tell(server.sockets[0].getsockname()[1])
    await loop.run_in_executor(None, sys.stdin.read)
    server.close()


asyncio.run(main())
