/**
 * Shows that a long step is under way: a running clock in a terminal, a line each ten seconds elsewhere.
 * @param {string} label
 * @returns {(outcome: string) => void} ends it and prints the time taken
 */
export function startProgress(label) {
  const since = Date.now();
  const seconds = () => Math.round((Date.now() - since) / 1_000);
  const inPlace = process.stdout.isTTY;
  const show = () => {
    process.stdout.write(inPlace ? `\r${label} ${seconds()} s` : `  ... ${seconds()} s\n`);
  };
  process.stdout.write(inPlace ? label : `${label}\n`);
  const timer = setInterval(show, inPlace ? 1_000 : 10_000);
  return (outcome) => {
    clearInterval(timer);
    const took = ((Date.now() - since) / 1_000).toFixed(1);
    process.stdout.write(`${inPlace ? '\r\u001B[K' : ''}${outcome} (${took} s)\n`);
  };
}
