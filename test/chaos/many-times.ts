/** How often a race is run; ROUNDS by command for a long run. */
export const ROUNDS = Number(process.env['ROUNDS'] ?? 6);

/** Waits a random time: where in the other's work a racer comes in is never the same. */
export const sometime = (maxMs: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, Math.random() * maxMs));

/** Runs a race in so many rounds, one after the other. @param race told the number of the round */
export async function manyTimes(race: (round: number) => Promise<void>): Promise<void> {
  for (let round = 0; round < ROUNDS; round += 1) {
    try {
      await race(round);
    } catch (error) {
      throw new Error(`In round ${round} of ${ROUNDS}: ${(error as Error).message}`, { cause: error });
    }
  }
}
