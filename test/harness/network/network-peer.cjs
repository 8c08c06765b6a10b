/** Runs inside a network namespace and executes the commands that a test sends over IPC. */
const { createServer, connect } = require('node:net');
const dgram = require('node:dgram');

const clock = () => performance.timeOrigin + performance.now();
const held = new Map();
const udpServers = new Map();
const actions = { listen, relay, reaches, opens, closes, hold, answers, listenUdp, sendUdp, reachesUdp };

/** Starts a server that echoes. @returns the port */
function listen({ address = '::', port = 0 }) {
  return listening(
    createServer((socket) => {
      socket.on('error', () => socket.destroy());
      socket.pipe(socket);
    }),
    { host: address, port },
  );
}

/** Forwards a port of this namespace to a Unix socket outside of it. */
function relay({ path, address = '127.0.0.1' }) {
  return listening(
    createServer((client) => {
      const server = connect(path);
      for (const [one, other] of [
        [client, server],
        [server, client],
      ]) {
        one.on('error', () => other.destroy());
        one.on('close', () => other.destroy());
        one.pipe(other);
      }
    }),
    { host: address, port: 0 },
  );
}

function listening(server, where) {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(where, () => resolve(server.address().port));
  });
}

/** Whether a connection is established. */
function reaches({ address, port, from, withinMs = 300 }) {
  return new Promise((resolve) => {
    const socket = connect({ host: address, port, localAddress: from });
    const done = (isOpen) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(isOpen);
    };
    const timer = setTimeout(() => done(false), withinMs);
    socket.once('connect', () => done(true));
    socket.once('error', () => done(false));
  });
}

/** Tries repeatedly, because a lost SYN is retransmitted only after a second. @returns when it was open */
async function opens({ address, port, from, everyMs = 2, withinMs = 20_000 }) {
  const deadline = clock() + withinMs;
  let openAt = null;
  const tries = [];
  while (openAt === null && clock() < deadline) {
    tries.push(
      reaches({ address, port, from, withinMs: 300 }).then((isOpen) => isOpen && (openAt ??= clock())),
    );
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
  return openAt;
}

/** @returns the time of the first attempt that failed */
async function closes({ address, port, from, everyMs = 2, withinMs = 20_000 }) {
  const deadline = clock() + withinMs;
  let closedAt = null;
  while (closedAt === null && clock() < deadline) {
    const at = clock();
    void reaches({ address, port, from, withinMs: 300 }).then((isOpen) => {
      if (!isOpen && (closedAt === null || at < closedAt)) closedAt = at;
    });
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
  return closedAt;
}

/** Opens a connection and keeps it. @returns its number */
function hold({ address, port, from }) {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: address, port, localAddress: from });
    socket.once('error', reject);
    socket.once('connect', () => {
      held.set(held.size, socket);
      resolve(held.size - 1);
    });
  });
}

/** Whether a kept connection still carries data in both directions. */
function answers({ connection, withinMs = 500 }) {
  return new Promise((resolve) => {
    const socket = held.get(connection);
    const timer = setTimeout(() => resolve(false), withinMs);
    socket.once('data', () => {
      clearTimeout(timer);
      resolve(true);
    });
    socket.write('?');
  });
}

function listenUdp({ port }) {
  return new Promise((resolve, reject) => {
    const socket = dgram.createSocket('udp4');
    socket.on('message', (message, { port: to, address }) => socket.send(message, to, address));
    socket.once('error', reject);
    socket.bind(port, '0.0.0.0', () => {
      udpServers.set(port, socket);
      resolve(socket.address().port);
    });
  });
}

/** A server sends a datagram by itself. */
function sendUdp({ port, to }) {
  return new Promise((resolve, reject) => {
    udpServers.get(port).send('!', to.port, to.address, (error) => (error ? reject(error) : resolve()));
  });
}

function reachesUdp({ address, port, fromPort = 0, withinMs = 300 }) {
  return new Promise((resolve) => {
    const socket = dgram.createSocket('udp4');
    const done = (isOpen) => {
      clearTimeout(timer);
      socket.close();
      resolve(isOpen);
    };
    const timer = setTimeout(() => done(false), withinMs);
    socket.once('message', () => done(true));
    socket.once('error', () => done(false));
    socket.bind(fromPort, () => socket.send('?', port, address));
  });
}

process.on('message', ({ id, action, given }) => {
  Promise.resolve(actions[action](given)).then(
    (result) => process.send({ id, result }),
    (error) => process.send({ id, error: String(error) }),
  );
});
process.once('disconnect', () => process.exit(0));
process.send({ ready: true });
