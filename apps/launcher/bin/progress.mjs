/**
 * Shows the progress of a long step: a running clock in a terminal, else a line every ten seconds.
 * @param {string} label
 * @returns {(outcome: string) => void} ends the step and prints its duration
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
