/**
 * Holds connections that ask for the state of one host over and over, whatever is answered.
 * Arguments: the URL, the API key, the number of connections, the pause of each between two requests in milliseconds.
 */
const http = require('node:http');
const os = require('node:os');

// elsewhere it would be another machine's work
os.setPriority(os.constants.priority.PRIORITY_LOW);

const [, , url, apiKey, connections, pauseMs] = process.argv;
const agent = new http.Agent({ keepAlive: true, maxSockets: Number(connections) });
const statuses = {};

const ask = () => {
  const again = () => setTimeout(ask, Number(pauseMs));
  const request = http.get(url, { agent, headers: { 'X-API-Key': apiKey } }, (response) => {
    statuses[response.statusCode] = (statuses[response.statusCode] ?? 0) + 1;
    response.resume().on('end', again);
  });
  request.on('error', again);
};

for (let index = 0; index < Number(connections); index += 1) setTimeout(ask, Math.random() * Number(pauseMs));
process.on('message', () => process.send(statuses));
process.on('disconnect', () => process.exit());
