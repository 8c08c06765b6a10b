/** What a team writes itself: allow the own address, work, and remove the address in a finally. */
const { spawn } = require('node:child_process');
const { once } = require('node:events');
const { authorize, ownAddress, revoke } = require('./security-group.cjs');

async function main() {
  const address = await ownAddress();
  await authorize(address);
  try {
    const [program, ...args] = process.argv.slice(2);
    await once(spawn(program, args, { stdio: 'inherit' }), 'exit');
  } finally {
    await revoke(address);
  }
}

void main();
