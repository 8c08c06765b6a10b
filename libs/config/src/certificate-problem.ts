/** Of OpenSSL and Node.js, for a certificate that is not accepted. */
const CODE =
  /^(UNABLE_TO_(GET_ISSUER|VERIFY)_\w+|\w*SELF_SIGNED_CERT\w*|CERT_\w+|INVALID_(CA|PURPOSE)|HOSTNAME_MISMATCH|ERR_TLS_CERT_\w+)$/;
const OTHER_NAME = /^(ERR_TLS_CERT_ALTNAME_INVALID|HOSTNAME_MISMATCH)$/;
const MAX_CAUSES = 10;

/** Why a server's certificate was not accepted, for people, after the server's name; null: another failure. @param error with its causes */
export function certificateProblem(error: unknown): string | null {
  let cause = error;
  for (let depth = 0; depth < MAX_CAUSES && cause instanceof Error; depth += 1) {
    const { code: given, originalCode } = cause as { code?: unknown; originalCode?: unknown };
    // nodemailer has its own in `code`
    const code = String(originalCode ?? given);
    if (OTHER_NAME.test(code)) return `its certificate is for another name (${code})`;
    if (code === 'CERT_HAS_EXPIRED') return `its certificate has expired (${code})`;
    if (CODE.test(code))
      return `its certificate is not trusted (${code}): the operator names a private authority in NODE_EXTRA_CA_CERTS`;
    cause = cause.cause;
  }
  return null;
}
