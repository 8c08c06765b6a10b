import { DriverRegistry } from '#drivers';
import * as rules from '#rules';
import * as secrets from '#secrets';
import { addressValue } from '../../apps/agent/src/nft/address-span';
import { readListing } from '../../apps/agent/src/nft/listing';
import { readOptions } from '../../apps/agent/src/options';
import { readState } from '../../apps/agent/src/state/host-state';
import { parseState } from '../../apps/agent/src/state/persisted-state';
import { auditedActionOf } from '../../apps/api/src/audit/audited-actions';
import { stripFieldName } from '../../apps/api/src/errors/field-message';
import { jsonRefusal } from '../../apps/api/src/http/json-shape';
import { loggedPath } from '../../apps/api/src/http/logged-path';
import { looksLikeTotp, stepOf } from '../../apps/api/src/mfa/totp';
import { conditionsRefusal, isAllowed } from '../../apps/api/src/oidc/conditions';
import { parseIdToken } from '../../apps/api/src/oidc/id-token';
import { accessCsv } from '../../apps/api/src/reports/access-csv';
import { staticAddress } from '../../apps/api/src/static-ip-rules/static-address';
import { refusalOf as apisixRefusal } from '../../libs/drivers/src/apisix/admin-errors';
import { gatewayOf } from '../../libs/drivers/src/apisix/apisix.facts';
import { toFailure as awsFailure } from '../../libs/drivers/src/aws/aws-errors';
import { observedRule as awsRule } from '../../libs/drivers/src/aws/rule-mapping';
import { refusalOf as azureRefusal } from '../../libs/drivers/src/azure/azure-errors';
import { parseGroupId } from '../../libs/drivers/src/azure/azure.facts';
import { missingActions, RULE_ACTIONS } from '../../libs/drivers/src/azure/write-permission';
import { parseJson } from '../../libs/drivers/src/untrusted-json';
import {
  observedRules as gcpRules,
  readTaggedNetwork,
  readProviderRuleId,
} from '../../libs/drivers/src/gcp/firewall-mapping';
import { GOOGLE } from '../../libs/drivers/src/gcp/gcp-errors';
import { readRetryAfter } from '../../libs/drivers/src/retry-after';
import { mayReach } from '../../libs/drivers/src/tenant-url/reachable';
import { tenantNetworks } from '../../libs/drivers/src/tenant-url/tenant-networks';
import { readTenantUrl, tenantUrlRefusal } from '../../libs/drivers/src/tenant-url/tenant-url';
import { messageOf as vercelText } from '../../libs/drivers/src/vercel/vercel-errors';
import { parseGuardedPath } from '../../libs/drivers/src/vercel/vercel.facts';
import { presentedCredential } from '../../libs/guards/src/presented-credential';
import { isUuid } from '../../libs/guards/src/signed-tokens';

type Work = (text: string) => unknown;
export type Named = readonly [name: string, work: Work];

const TAKES_A_TEXT = /^(parse|read|canonical|is[A-Z])|Hash$/;
const NOTHING_TRUSTED: readonly string[] = [];
const LOOPBACK = ['127.0.0.0/8'];

/** A library's exported parsers, with the same text for each parameter. */
const everyReader = (library: string, parts: object): Named[] =>
  Object.entries(parts)
    .filter(([name, part]) => typeof part === 'function' && TAKES_A_TEXT.test(name))
    .map(([name, part]) => [
      `${library} ${name}`,
      (text) => (part as (...given: string[]) => unknown)(text, text, text),
    ]);

const HEADERS: readonly Named[] = [
  ['Authorization', (text) => presentedCredential({ authorization: text })],
  ['X-API-Key', (text) => presentedCredential({ 'x-api-key': text })],
  ...(['peer', 'forwardedFor', 'forwarded', 'realIp'] as const).map((header): Named => [
    `${header} of a trusted proxy`,
    (text) =>
      rules.callerOf(
        { peer: '127.0.0.1', forwardedFor: undefined, realIp: undefined, [header]: text },
        LOOPBACK,
        { refuseLocal: true },
      ),
  ]),
  ['a path in the log', loggedPath],
  ['a path of the audit', (text) => auditedActionOf('POST', text)],
  ['the field of a refusal', (text) => stripFieldName(text, text)],
  ['the field of a refused element', (text) => stripFieldName(`each value in ${text}`, 'a')],
];

const BODIES: readonly Named[] = [
  ['a text in a body', (text) => jsonRefusal({ text })],
  ['a field of a body', (text) => jsonRefusal({ [text]: text })],
  ['a code', looksLikeTotp],
  ['a code for a secret', (text) => stepOf(text, 'JBSWY3DPEHPK3PXP')],
  ['a static address', (text) => staticAddress(text, { allowPrivate: false, minPrefix: { 4: 8, 6: 16 } })],
  ['a name', rules.hiddenCharacters],
  ['a name as it is shown', rules.visible],
  ['a report', (text) => accessCsv([{ userEmail: text }] as never)],
  ['an id', isUuid],
  ['an address in a range', (text) => rules.isWithin(text, LOOPBACK)],
  ['a range', (text) => rules.isWithin('10.0.0.1', [text])],
  ['an IPv4 field', (text) => rules.readGivenAddress(text, 4, { allowPrivate: false })],
  ['an IPv6 field', (text) => rules.readGivenAddress(text, 6, { allowPrivate: false })],
  [
    'a password',
    (text) =>
      rules.passwordProblem(text, {
        passwordMinLength: 8,
        passwordRequireUppercase: true,
        passwordRequireLowercase: true,
        passwordRequireDigit: true,
        passwordRequireSpecialChar: true,
      }),
  ],
];

const PROVIDERS: readonly Named[] = DriverRegistry.providers.flatMap((provider) => {
  const { credentialTypes, resourceTypes } = DriverRegistry.facts(provider);
  const fields = Object.entries(credentialTypes).flatMap(([type, { forms }]) =>
    Object.entries(forms).flatMap(([field, { pattern, refusal, repair }]): Named[] => [
      [`${provider} ${type} ${field}`, (text) => pattern.test(text)],
      ...(repair ? [[`${provider} ${type} ${field}, repaired`, repair] as const] : []),
      ...(refusal ? [[`${provider} ${type} ${field}, beyond its form`, refusal] as const] : []),
    ]),
  );
  const identifiers = Object.entries(resourceTypes).flatMap(
    ([type, { identifier, nameTarget, region }]): Named[] => [
      ...(region
        ? [[`${provider} ${type} region`, (text: string) => region.pattern.test(text)] as const]
        : []),
      [`${provider} ${type} identifier`, (text) => identifier.pattern.test(text)],
      [
        `${provider} ${type} name of a target`,
        (text) =>
          nameTarget({
            organization: 'o',
            identifier: text,
            config: { hostname: text, pathPrefix: text, targetTags: [text] },
            hints: { adminUrl: text, project_id: text, subscriptionId: text },
          }),
      ],
    ],
  );
  return [...fields, ...identifiers];
});

const MARKED = (description: string): object => ({
  SecurityGroupRuleId: description,
  IpProtocol: 'tcp',
  FromPort: 22,
  ToPort: 22,
  CidrIpv4: description,
  Description: description,
});

const coded = (text: string): string => Buffer.from(text).toString('base64url');

const refused = (error: unknown, header: string | null = null) => ({
  status: 400,
  body: { error },
  header: () => header,
});

const ANSWERS: readonly Named[] = [
  ['an ID token', parseIdToken],
  ['a payload of an ID token', (text) => parseIdToken(`${coded('{}')}.${coded(text)}.AAAA`)],
  ['a claim', (text) => parseIdToken(`${coded('{}')}.${coded(JSON.stringify({ a: text, [text]: 1 }))}.AAAA`)],
  ['a condition', (text) => conditionsRefusal({ [text]: [text], ref: [text] })],
  ['a claim under a condition', (text) => isAllowed('ref', [text], text)],
  ['a tenant URL', readTenantUrl],
  ['a tenant URL with a query', (text) => readTenantUrl(text, 'whole')],
  ['a refused tenant URL', tenantUrlRefusal],
  ['an address that a name has', (text) => mayReach(text, NOTHING_TRUSTED)],
  ['TENANT_URL_NETWORKS', (text) => tenantNetworks({ TENANT_URL_NETWORKS: text })],
  ['JSON', parseJson],
  ['Retry-After', readRetryAfter],
  ['a gateway address', gatewayOf],
  [
    'APISIX, a refusal',
    (text) => apisixRefusal({ status: 400, headers: {}, text: JSON.stringify({ error_msg: text }) }),
  ],
  ['APISIX, a page', (text) => apisixRefusal({ status: 403, headers: {}, text })],
  ['AWS, an error', (text) => awsFailure({ name: text, message: text, Code: text }, [])],
  ['AWS, a rule', (text) => awsRule(MARKED(text), 'test')],
  ['Azure, a refusal', (text) => azureRefusal(refused({ code: text, message: text }), [])],
  [
    'Azure, an OAuth refusal',
    (text) => azureRefusal({ ...refused(text), body: { error: text, error_description: text } }, []),
  ],
  ['Azure, an id', parseGroupId],
  ['Azure, an action', (text) => missingActions([{ actions: [text], notActions: [] }], RULE_ACTIONS)],
  [
    'Azure, an exception',
    (text) => missingActions([{ actions: ['*'], notActions: [`*${text}*`] }], RULE_ACTIONS),
  ],
  [
    'GCP, a refusal',
    (text) => GOOGLE.refusalOf(refused({ message: text, errors: [{ reason: text }] }, text), []),
  ],
  ['GCP, a place', readTaggedNetwork],
  ['GCP, a place with tags', (text) => readTaggedNetwork(`projects/p/global/networks/n?targetTags=${text}`)],
  ['GCP, an id', readProviderRuleId],
  [
    'GCP, a rule',
    (text) =>
      gcpRules(
        {
          name: text,
          description: text,
          direction: 'INGRESS',
          network: `${text}/n`,
          sourceRanges: [text, '10.0.0.0/8'],
          allowed: [{ IPProtocol: text }, { IPProtocol: 'tcp', ports: [text] }],
        },
        { project: 'p', network: 'n', targetTags: [], targetServiceAccounts: [], priority: 1000 },
        'test',
      ),
  ],
  ['Vercel, a refusal', (text) => vercelText({ error: { code: text, message: text } })],
  ['Vercel, a place', parseGuardedPath],
];

const MOMENT = { bootId: 'b', runningMs: 1, batterySeconds: null };
const AGENT: readonly Named[] = [
  ['--server', (text) => readOptions(['--server', text, '--name', 'a'], { DRAWBRIDGE_AGENT_KEY: 'k' })],
  [
    '--server, a path',
    (text) => readOptions(['--server', `https://a/${text}b`, '--name', 'a'], { DRAWBRIDGE_AGENT_KEY: 'k' }),
  ],
  ['--guard', (text) => readOptions(['--status', '--guard', text], {})],
  ['an unknown argument', (text) => readOptions([`--${text}`], {})],
  ['a listing', readListing],
  ['a listed address', (text) => addressValue(text)],
  ['a listed IPv6 address', (text) => addressValue(`::${text}`)],
  [
    'a state',
    (text) =>
      readState(
        { version: text, guarded: [], rules: [{ id: text, ipAddress: text, protocol: text, ports: [] }] },
        1,
      ),
  ],
  ['a state file', (text) => parseState(text, MOMENT)],
];

/** Everything that reads a text of a stranger. */
export const PARSERS: readonly Named[] = [
  ...everyReader('#rules', rules),
  ...everyReader('#secrets', secrets),
  ...HEADERS,
  ...BODIES,
  ...PROVIDERS,
  ...ANSWERS,
  ...AGENT,
];
