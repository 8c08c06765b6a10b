/** The main step of common allow-list actions: it adds the runner's address. */
const { appendFileSync } = require('node:fs');
const { authorize, ownAddress } = require('./security-group.cjs');

async function main() {
  const address = await ownAddress();
  // before the call: a step that is cancelled after it is cleaned up too
  appendFileSync(process.env.GITHUB_STATE, `address<<end\n${address}\nend\n`);
  await authorize(address);
}

void main();
