import { createServer } from 'node:http';
import type { TargetRead } from '#rules';
import type { DriverError } from '../driver-error';
import type { CloudTarget } from '../provider-driver';
import { createAwsDriver } from './aws.driver';

const GROUP = 'sg-0123456789abcdef0';
const TARGET: CloudTarget = {
  resourceType: 'SECURITY_GROUP',
  identifier: GROUP,
  region: 'eu-west-1',
  credential: {
    credentialType: 'ACCESS_KEY',
    data: { accessKeyId: 'AKIATENANT', secretAccessKey: 'secret' },
    externalId: null,
    identity: null,
  },
  deployment: 'prod',
  claims: new Map(),
};
const AHEAD_MS = 600_000;

const emptyList = `<DescribeSecurityGroupRulesResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"><securityGroupRuleSet>
  <item><securityGroupRuleId>sgr-1</securityGroupRuleId><groupId>${GROUP}</groupId><isEgress>true</isEgress></item>
  </securityGroupRuleSet></DescribeSecurityGroupRulesResponse>`;
const refusal = (code: string): string =>
  `<Response><Errors><Error><Code>${code}</Code><Message>no</Message></Error></Errors></Response>`;

/** `20261121T103000Z` as milliseconds. */
const readAmzDate = (text: string): number =>
  Date.parse(text.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'));

describe('AWS calls with a clock that is ten minutes slow', () => {
  const signedAt: number[] = [];
  let answer: (signed: number) => { status: number; body: string };
  const server = createServer((request, response) => {
    const signed = readAmzDate(String(request.headers['x-amz-date']));
    signedAt.push(signed);
    const { status, body } = answer(signed);
    response.writeHead(status, { date: new Date(Date.now() + AHEAD_MS).toUTCString() });
    request.resume().once('end', () => response.end(body));
  });
  const read = (): Promise<TargetRead> => {
    const address = server.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    return createAwsDriver({ AWS_ENDPOINT_URL_EC2: `http://127.0.0.1:${port}` }).readRules(TARGET);
  };

  beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
  beforeEach(() => signedAt.splice(0));
  afterAll(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  it('are retried once with the corrected time', async () => {
    answer = (signed) =>
      Math.abs(signed - Date.now() - AHEAD_MS) < 60_000
        ? { status: 200, body: emptyList }
        : { status: 400, body: refusal('RequestExpired') };
    await read();
    expect(signedAt).toHaveLength(2);
  });

  it('are not retried a second time', async () => {
    answer = () => ({ status: 400, body: refusal('RequestExpired') });
    await expect(read()).rejects.toMatchObject({ kind: 'transient' } satisfies Partial<DriverError>);
    expect(signedAt).toHaveLength(2);
  });

  it('are not retried after a server error, whose outcome is unknown', async () => {
    answer = () => ({ status: 500, body: refusal('InternalError') });
    await expect(read()).rejects.toMatchObject({ kind: 'transient' } satisfies Partial<DriverError>);
    expect(signedAt).toHaveLength(1);
  });
});
