const seconds = (since) => Math.round((Date.now() - since) / 1000);

/**
 * Shows that a long step is under way: a running clock in a terminal, a line each ten seconds elsewhere.
 * @returns a function that ends it and prints the time taken
 */
export function startProgress(label) {
  const since = Date.now();
  const inPlace = process.stdout.isTTY;
  if (!inPlace) console.log(label);
  const show = () => process.stdout.write(`\r${label} ${seconds(since)} s`);
  if (inPlace) show();
  const timer = inPlace
    ? setInterval(show, 1_000)
    : setInterval(() => console.log(`  ... ${seconds(since)} s`), 10_000);
  return (outcome) => {
    clearInterval(timer);
    const took = `${((Date.now() - since) / 1000).toFixed(1)} s`;
    if (inPlace) process.stdout.write(`\r\u001B[K${outcome} (${took})\n`);
    else console.log(`${outcome} (${took})`);
  };
}
