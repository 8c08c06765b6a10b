import { AuthorizeSecurityGroupIngressCommand, EC2Client } from '@aws-sdk/client-ec2';
import type { DriverErrorKind } from '#rules';
import type { CallFailure } from '../call-failure';
import { duringTests } from '../scripted-server.testing';
import { refusal, ScriptedEndpoint, SECRET } from './aws.driver.testing';
import { toFailure } from './aws-errors';
import { SdkSettings } from './sdk-settings';

const ec2Error = (code: string, message = 'EC2 error message'): string => refusal(0, code, message).body;

const HTML = '<html><head><title>502 Bad Gateway</title></head><body><center>502</center></body></html>';

const endpoint = duringTests(new ScriptedEndpoint());

/** The failure of a write with the real SDK for a given EC2 response. */
async function failureOf(
  status: number,
  body: string,
  secrets: readonly string[] = [],
): Promise<CallFailure> {
  endpoint.respond = (_, response) => response.writeHead(status).end(body);
  const keys = { accessKeyId: 'AKIAEXAMPLE', secretAccessKey: SECRET };
  const settings = new SdkSettings({ AWS_ENDPOINT_URL_EC2: endpoint.url }, 5000);
  const client = new EC2Client(settings.clientConfig('AWS_ENDPOINT_URL_EC2', 'eu-west-1', keys));
  const error: unknown = await client
    .send(new AuthorizeSecurityGroupIngressCommand({ GroupId: 'sg-1' }))
    .catch((reason: unknown) => reason);
  return toFailure(error, secrets);
}

describe('Classification of AWS errors', () => {
  const settled: [status: number, code: string, kind: DriverErrorKind][] = [
    [503, 'RequestLimitExceeded', 'throttled'],
    [400, 'Throttling', 'throttled'],
    [503, 'EC2ThrottledException', 'throttled'],
    [403, 'UnauthorizedOperation', 'denied'],
    [401, 'AuthFailure', 'denied'],
    [403, 'OptInRequired', 'denied'],
    [403, 'SignatureDoesNotMatch', 'denied'],
    [400, 'ExpiredToken', 'denied'],
    [403, 'SomethingNewAboutAccess', 'denied'],
    [400, 'InvalidGroup.NotFound', 'target-missing'],
    [400, 'InvalidGroupId.Malformed', 'target-missing'],
    [400, 'InvalidPermission.Duplicate', 'conflict'],
    [400, 'InvalidPermission.NotFound', 'conflict'],
    [400, 'InvalidSecurityGroupRuleId.NotFound', 'conflict'],
    [400, 'RulesPerSecurityGroupLimitExceeded', 'quota'],
    [400, 'InvalidPrefixListID.NotFound', 'target-missing'],
    [400, 'InvalidPrefixListId.NotFound', 'target-missing'],
    [400, 'InvalidPrefixListId.Malformed', 'target-missing'],
    [400, 'IncorrectState', 'conflict'],
    [400, 'PrefixListVersionMismatch', 'conflict'],
    [400, 'InvalidPrefixListModification', 'conflict'],
    [400, 'ConcurrentMutationLimitExceeded', 'conflict'],
    [400, 'PrefixListMaxEntriesExceeded', 'quota'],
    [400, 'UnsupportedOperation', 'invalid'],
    [400, 'InvalidParameterCombination', 'invalid'],
    [400, 'InvalidParameterValue', 'invalid'],
    [400, 'MissingParameter', 'invalid'],
    [400, 'SomethingNewAboutParameters', 'invalid'],
    [400, 'RequestExpired', 'transient'],
  ];

  it.each(settled)('classifies HTTP %i %s as %s, without effect', async (status, code, kind) => {
    const failure = await failureOf(status, ec2Error(code));
    expect(failure).toMatchObject({ kind, code, settled: true, message: `${code}: EC2 error message` });
    expect(failure.changeResult).toEqual({ result: 'refused', kind, message: failure.message });
  });

  it.each([
    [500, 'InternalError'],
    [503, 'Unavailable'],
    [500, 'SomethingNew'],
  ])('classifies HTTP %i %s as transient with unknown outcome', async (status, code) => {
    const failure = await failureOf(status, ec2Error(code));
    expect(failure).toMatchObject({ kind: 'transient', code, settled: false });
    expect(failure.changeResult).toEqual({ result: 'unknown', message: failure.message });
  });

  it.each([
    ['an HTML page', 502, HTML],
    ['an HTML page that is not XML', 200, '<html><body>in the way<hr></body></html>'],
    ['an HTML page with a client error', 403, HTML],
    ['a redirect', 302, ''],
    ['an empty body', 503, ''],
    ['plain text', 500, 'oops'],
    ['XML that ends early', 400, ec2Error('InvalidParameterValue').slice(0, 120)],
    ['a missing page', 404, HTML],
  ])('treats %s as an unexpected response with unknown outcome', async (_, status, body) => {
    const failure = await failureOf(status, body);
    expect(failure).toMatchObject({ kind: 'transient', code: null, settled: false });
    expect(failure.message).toBe(`Unexpected HTTP ${status} response from AWS`);
  });

  it('classifies HTTP 429 as throttled even if a proxy sent it', async () => {
    expect(await failureOf(429, HTML)).toMatchObject({ kind: 'throttled', settled: true });
  });

  it('masks secrets in the message before truncating it', async () => {
    const quoted = `${'x'.repeat(440)} x-amz-security-token:${SECRET} and ${SECRET}`;
    const failure = await failureOf(403, ec2Error('SignatureDoesNotMatch', quoted), [SECRET, '']);
    expect(failure.message).not.toContain(SECRET.slice(0, 12));
    expect(failure.message).toContain('[secret]');
  });
});
