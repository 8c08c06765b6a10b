import { randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { Client } from 'pg';
import { SMTPServer } from 'smtp-server';
import { accountOwner, type AccountOwner } from '../builders/accounts/accounts';
import { identityProvider } from '../builders/sso/company-sign-in';
import { Certificates } from '../harness/network/certificates';
import { Drawbridge } from '../harness/product/drawbridge';
import { freePort } from '../harness/network/free-port';
import { OwnPostgres } from '../harness/database/own-postgres';
import { hasRedis, RedisServer } from '../harness/database/redis';
import { serviceUrlOf } from '../harness/database/template';
import { until } from '../harness/until';

/** Both products of this file are on one database. */
const KEYS = { MASTER_KEYS: `1:${randomBytes(32).toString('base64')}` };
const onRedis = hasRedis ? describe : describe.skip;

/** Makes a PostgreSQL speak TLS, and take nothing else. */
async function demandTls(url: string, { key, cert }: Certificates['server']): Promise<void> {
  const client = new Client(url);
  await client.connect();
  const write = (text: string, file: string): Promise<unknown> =>
    client.query(
      `COPY (SELECT '${Buffer.from(text).toString('base64')}') TO PROGRAM 'umask 077; base64 -d > ${file}'`,
    );
  await write(key, 'server.key');
  await write(cert, 'server.crt');
  await write('hostssl all all 127.0.0.1/32 scram-sha-256\n', 'pg_hba.conf');
  await client.query('ALTER SYSTEM SET ssl = on');
  await client.query('SELECT pg_reload_conf()');
  await client.end();
}

onRedis('A private authority, named by one setting,', () => {
  const certificates = new Certificates();
  let postgres: OwnPostgres;
  let redis: RedisServer;
  let redisUrl: string;
  let web: Server;
  let mailServer: SMTPServer;
  const mails: string[] = [];
  const posts: string[] = [];

  const webUrl = (path: string): string => `https://127.0.0.1:${(web.address() as AddressInfo).port}${path}`;
  const databaseUrl = (query: string): string => `${serviceUrlOf(postgres.database.url)}${query}`;

  beforeAll(async () => {
    const { server } = certificates;
    postgres = await OwnPostgres.start();
    await demandTls(postgres.database.url, server);
    const tlsPort = await freePort();
    redis = await RedisServer.start(
      undefined,
      ...`--tls-port ${tlsPort} --tls-auth-clients no --tls-cert-file ${certificates.certFile}`.split(' '),
      ...`--tls-key-file ${certificates.keyFile} --tls-ca-cert-file ${certificates.authorityFile}`.split(' '),
    );
    redisUrl = `rediss://127.0.0.1:${tlsPort}`;
    web = createServer(server, (request, response) => {
      posts.push(request.url ?? '');
      request.resume();
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ issuer: webUrl(''), jwks_uri: webUrl('/keys'), keys: [] }));
    });
    await new Promise<void>((listening) => web.listen(0, '127.0.0.1', listening));
    mailServer = new SMTPServer({
      ...server,
      secure: true,
      authOptional: true,
      onData: (stream, _, done) => {
        stream.on('data', (chunk: Buffer) => mails.push(chunk.toString()));
        stream.on('end', () => done());
      },
    });
    // of clients that do not trust it
    mailServer.on('error', () => undefined);
    await new Promise<void>((listening) => mailServer.listen(0, '127.0.0.1', () => listening()));
  });
  afterAll(async () => {
    web.closeAllConnections();
    web.close();
    mailServer.close();
    await redis.kill();
    await postgres.database.drop();
    certificates.remove();
  });

  const start = (env: Readonly<Record<string, string>>, query: string, queue: object): Promise<Drawbridge> =>
    Drawbridge.start({
      worker: false,
      database: {
        ...postgres.database,
        url: `${postgres.database.url}?sslmode=no-verify`,
        serviceUrl: databaseUrl(query),
        drop: async () => undefined,
      },
      ...queue,
      api: {
        SMTP_URL: `smtps://127.0.0.1:${(mailServer.server.address() as AddressInfo).port}`,
        MAIL_FROM: 'Drawbridge <door@example.com>',
        ...KEYS,
        ...env,
      },
    });

  /** What an administrator sees of an issuer and a webhook, after a mail was asked for. */
  async function seen(drawbridge: Drawbridge, owner: AccountOwner): Promise<readonly (string | null)[]> {
    const issuer = { url: webUrl(''), client: { id: 'drawbridge', secret: 'secret' } };
    const { id } = await identityProvider({ admin: owner.client }, issuer);
    const tested = await owner.client.posted<{ checks: { message: string }[] }>(
      `/identity-providers/${id}/test`,
    );
    const webhook = await owner.client.created<{ id: string }>('/webhooks', { url: webUrl('/hook') });
    await owner.client.expect(204, owner.client.post(`/webhooks/${webhook.id}/test`));
    const delivered = await until('a delivery', async () => {
      const path = `/webhooks/${webhook.id}/deliveries`;
      const [first] = await owner.client.expect(200, owner.client.get<{ error: string | null }[]>(path));
      return first;
    });
    await drawbridge.api.expect(204, drawbridge.api.post('/auth/forgot-password', { email: owner.email }));
    return [tested.checks[0]!.message, delivered.error];
  }

  it('is trusted for PostgreSQL, Redis, mail, issuers and webhooks', async () => {
    const NODE_EXTRA_CA_CERTS = certificates.authorityFile;
    const drawbridge = await start({ NODE_EXTRA_CA_CERTS }, '?sslmode=require', { redisUrl });
    await drawbridge.startWorker({ ...KEYS, NODE_EXTRA_CA_CERTS });
    await until('all is up', async () => {
      const { body } = await drawbridge.api.get<{ status: string }>('/health/ready');
      return body.status === 'UP';
    });
    expect(drawbridge.apiServer.output).not.toContain('SECURITY WARNING');
    const plain = await drawbridge.query(
      `SELECT FROM pg_stat_activity a JOIN pg_stat_ssl s USING (pid) WHERE a.application_name LIKE 'drawbridge%' AND NOT s.ssl`,
    );
    expect(plain).toEqual([]);
    const owner = await accountOwner(drawbridge);
    const [discovery, delivery] = await seen(drawbridge, owner);
    expect([discovery, delivery]).toEqual([expect.stringContaining(`It is ${webUrl('')}`), null]);
    expect(posts).toContain('/hook');
    const mail = await until('the mail', async () => mails.find((text) => text.includes(owner.email)));
    expect(mail).toMatch(/^Auto-Submitted: auto-generated\r$/m);
    await drawbridge.stop();
  });

  it('is named by whoever does not trust it', async () => {
    const drawbridge = await start({}, '?sslmode=no-verify', {});
    await drawbridge.startWorker(KEYS);
    const problem =
      /certificate is not trusted \(\w+\): the operator names a private authority in NODE_EXTRA_CA_CERTS/;
    const owner = await accountOwner(drawbridge);
    for (const said of await seen(drawbridge, owner)) expect(said).toMatch(problem);
    const line = await until('the failure', async () =>
      drawbridge.apiServer.output.split('\n').find((text) => text.includes('could not be mailed')),
    );
    expect(line).toMatch(problem);
    const refusals = [
      [{ DATABASE_URL: databaseUrl('?sslmode=verify-full') }, problem],
      [{ DATABASE_URL: databaseUrl('') }, /demands TLS: add \?sslmode=verify-full/],
      [{ REDIS_URL: redisUrl }, problem],
    ] as const;
    for (const [env, reason] of refusals) {
      const refused = await drawbridge.startApi({ ...KEYS, ...env }).then(
        () => 'it started',
        (error: Error) => error.message,
      );
      expect(refused).toContain('ended (78)');
      expect(refused).toMatch(reason);
    }
    await drawbridge.stop();
  });
});
