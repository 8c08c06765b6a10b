import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { randomUUID } from 'node:crypto';
import type { IdTokenVariables } from '../product/action-job';

/** Where jobs request their ID tokens, as of GitHub's runner. */
export class IdTokenEndpoint {
  /** the tokens that it has issued */
  readonly issued: string[] = [];
  private readonly requestToken = randomUUID();

  private constructor(private readonly server: Server) {}

  /** @param sign a token for an audience */
  static async start(sign: (audience: string) => Promise<string>): Promise<IdTokenEndpoint> {
    const server = createServer();
    const endpoint = new IdTokenEndpoint(server);
    server.on('request', (request, response) => {
      const audience = new URL(request.url ?? '', 'http://localhost').searchParams.get('audience');
      if (request.headers.authorization !== `Bearer ${endpoint.requestToken}` || audience === null) {
        response.writeHead(401).end();
        return;
      }
      void sign(audience).then((value) => {
        endpoint.issued.push(value);
        return response.setHeader('Content-Type', 'application/json').end(JSON.stringify({ value }));
      });
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    return endpoint;
  }

  /** What a job gets that may request tokens. */
  get variables(): IdTokenVariables {
    const { port } = this.server.address() as AddressInfo;
    return {
      ACTIONS_ID_TOKEN_REQUEST_URL: `http://127.0.0.1:${port}/token?api-version=2.0`,
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: this.requestToken,
    };
  }

  stop(): Promise<void> {
    this.server.closeAllConnections();
    return new Promise((done) => this.server.close(() => done()));
  }
}
