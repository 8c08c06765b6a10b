/** The least server that holds open requests: node:http, one timer for each. */
const { createServer } = require('node:http');

const server = createServer((request, response) => {
  setTimeout(() => response.end('{}'), Number(request.headers['x-wait-ms']));
});
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
process.once('disconnect', () => process.exit(0));
