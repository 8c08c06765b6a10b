import type { IncomingMessage, ServerResponse } from 'node:http';
import { randomUUID } from 'node:crypto';
import { LoopbackServer } from '../network/loopback-server';
import type { IdTokenVariables } from '../product/action-job';

/** Where jobs request their ID tokens, as of GitHub's runner. */
export class IdTokenEndpoint extends LoopbackServer {
  /** the tokens that it has issued */
  readonly issued: string[] = [];
  private readonly requestToken = randomUUID();

  /** @param sign a token for an audience */
  private constructor(private readonly sign: (audience: string) => Promise<string>) {
    super();
  }

  static start(sign: (audience: string) => Promise<string>): Promise<IdTokenEndpoint> {
    return new IdTokenEndpoint(sign).listen();
  }

  /** What a job gets that may request tokens. */
  get variables(): IdTokenVariables {
    return {
      ACTIONS_ID_TOKEN_REQUEST_URL: `${this.url}/token?api-version=2.0`,
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: this.requestToken,
    };
  }

  protected async serve({ url, headers }: IncomingMessage, response: ServerResponse): Promise<void> {
    const audience = new URL(url ?? '', this.url).searchParams.get('audience');
    if (headers.authorization !== `Bearer ${this.requestToken}` || audience === null)
      return void response.writeHead(401).end();
    const value = await this.sign(audience);
    this.issued.push(value);
    response.setHeader('Content-Type', 'application/json').end(JSON.stringify({ value }));
  }
}
