/**
 * Passes on whether a program is here. Where it is not, suites that need it are skipped, and say so; a run with
 * CI=true has to have it: a skipped suite would look like a passed one.
 * @throws Error when it is missing and CI=true
 */
export function neededInCi(program: string, isHere: boolean): boolean {
  if (!isHere && process.env['CI'] === 'true') {
    throw new Error(`${program} is missing here: with CI=true no suite may be skipped for want of it`);
  }
  return isHere;
}
