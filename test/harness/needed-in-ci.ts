/**
 * Returns whether a program is installed. Without it, suites that need it are skipped with a message; with CI=true it
 * is required, because a skipped suite would look like a passed one.
 * @throws Error when it is missing and CI=true
 */
export function neededInCi(program: string, isHere: boolean): boolean {
  if (!isHere && process.env['CI'] === 'true') {
    throw new Error(`${program} is missing here: with CI=true no suite may be skipped for want of it`);
  }
  return isHere;
}
