/** Number of rounds of each race; set ROUNDS for a long run. */
export const ROUNDS = Number(process.env['ROUNDS'] ?? 6);

/** Waits a random time, so that the operations of a race interleave differently in each round. */
export const randomDelay = (maxMs: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, Math.random() * maxMs));

/** Runs a race in several rounds, sequentially. @param race receives the number of the round */
export async function repeatRace(race: (round: number) => Promise<void>): Promise<void> {
  for (let round = 0; round < ROUNDS; round += 1) {
    try {
      await race(round);
    } catch (error) {
      throw new Error(`In round ${round} of ${ROUNDS}: ${(error as Error).message}`, { cause: error });
    }
  }
}
