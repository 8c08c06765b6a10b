import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { observeAddresses } from './addresses';

describe('observeAddresses', () => {
  it('repeats what a server says that sees no address it could allow: it was reached', async () => {
    const message = 'Your address could not be detected: this service saw 127.0.0.1.';
    const server = createServer((_, response) => response.writeHead(400).end(JSON.stringify({ message })));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const observed = observeAddresses(url, { ipv4Url: null, ipv6Url: null });
    await expect(observed).rejects.toMatchObject({ name: 'NoAddress', message, isPassing: false });
    server.close();
  });
});
