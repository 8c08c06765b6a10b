/**
 * Shows the progress of a long step: a running clock in a terminal, else a line every ten seconds.
 * @param {string} label
 * @param {string} done is printed with its duration
 * @param {() => Promise<void>} work
 * @param {{ seconds: number, else: string }} [usual] how long it takes at most, and why it may take longer
 */
export async function step(label, done, work, usual) {
  const since = Date.now();
  const seconds = () => (Date.now() - since) / 1_000;
  const inPlace = process.stdout.isTTY;
  const show = () => {
    const now = Math.round(seconds());
    const reason = usual && now > usual.seconds ? ` (longer than usual: ${usual.else})` : '';
    process.stdout.write(inPlace ? `\r${label} ${now} s${reason}` : `  ... ${now} s${reason}\n`);
  };
  process.stdout.write(inPlace ? label : `${label}\n`);
  const timer = setInterval(show, inPlace ? 1_000 : 10_000);
  let outcome = 'Failed';
  try {
    await work();
    outcome = done;
  } finally {
    clearInterval(timer);
    process.stdout.write(`${inPlace ? '\r\u001B[K' : ''}${outcome} (${seconds().toFixed(1)} s)\n`);
  }
}
