/** A server that answers every request at once with the status that is given, and sends its port to its parent. */
const http = require('node:http');

const status = Number(process.argv[2]);
// as the API does
const headers = { 'Content-Type': 'application/json', ...(status === 429 ? { Connection: 'close' } : {}) };
const server = http.createServer((_, response) => response.writeHead(status, headers).end('{}'));
server.listen(0, '127.0.0.1', () => process.send(server.address().port));
process.on('disconnect', () => process.exit());
