/** Of OpenSSL and Node.js, for a certificate that is not accepted. */
const CODE =
  /^(UNABLE_TO_(GET_ISSUER|VERIFY)_\w+|\w*SELF_SIGNED_CERT\w*|CERT_\w+|INVALID_(CA|PURPOSE)|HOSTNAME_MISMATCH|ERR_TLS_CERT_\w+)$/;
const OTHER_NAME = /^(ERR_TLS_CERT_ALTNAME_INVALID|HOSTNAME_MISMATCH)$/;
const MAX_CAUSES = 10;

const UNCONNECTED = { ENOTFOUND: 'its name is not known', ECONNREFUSED: 'it refused the connection' };

/** As `certificateProblem`, and why there was no connection at all; null: there was no answer, or another failure. */
export function connectionProblem(error: unknown): string | null {
  const codes = codesOf(error);
  const [code, text] = Object.entries(UNCONNECTED).find(([each]) => codes.includes(each)) ?? [];
  return code === undefined ? certificateProblem(error) : `${text} (${code})`;
}

/** Of an error and its causes. */
function codesOf(error: unknown, depth = 0): string[] {
  if (!(error instanceof Error) || depth >= MAX_CAUSES) return [];
  const { code, originalCode } = error as { code?: unknown; originalCode?: unknown };
  // nodemailer has its own in `code`
  return [String(originalCode ?? code), ...codesOf(error.cause, depth + 1)];
}

/** Why a server's certificate was not accepted, for people, after the server's name; null: another failure. @param error with its causes */
export function certificateProblem(error: unknown): string | null {
  for (const code of codesOf(error)) {
    if (OTHER_NAME.test(code)) return `its certificate is for another name (${code})`;
    if (code === 'CERT_HAS_EXPIRED') return `its certificate has expired (${code})`;
    if (CODE.test(code))
      return `its certificate is not trusted (${code}): the operator names a private authority in NODE_EXTRA_CA_CERTS`;
  }
  return null;
}
