import { claimsOf, raw, RSA, type Changes, type Forgery, type ForgeryBench } from './forgery';
import { now } from './oidc';

/** A right signature over claims that are not right. */
const claimed = (name: string, claim: string, changes: (bench: ForgeryBench) => Changes): Forgery => [
  name,
  claim,
  (bench) => bench.issuer.sign(claimsOf(bench, changes(bench))),
];

const ISSUERS: readonly Forgery[] = [
  claimed('without iss', 'iss', () => ({ iss: undefined })),
  claimed('with a slash after iss', 'iss', ({ issuer }) => ({ iss: `${issuer.url}/` })),
  claimed('with iss in capitals', 'iss', ({ issuer }) => ({ iss: issuer.url.toUpperCase() })),
  claimed('with a blank after iss', 'iss', ({ issuer }) => ({ iss: `${issuer.url} ` })),
  claimed('with a list as iss', 'iss', ({ issuer }) => ({ iss: [issuer.url] })),
  claimed('with null as iss', 'iss', () => ({ iss: null })),
  claimed('with U+0000 after iss', 'iss', ({ issuer }) => ({ iss: `${issuer.url}\u0000` })),
  claimed('with a user in iss', 'iss', ({ issuer }) => ({ iss: issuer.url.replace('//', '//x@') })),
  claimed('of GitHub itself', 'iss', () => ({ iss: 'https://token.actions.githubusercontent.com' })),
  [
    'of another issuer that the operator allows',
    'iss',
    (bench) => bench.other.sign(claimsOf(bench, { iss: bench.other.url })),
  ],
];

const AUDIENCES: readonly Forgery[] = [
  claimed('without aud', 'aud', () => ({ aud: undefined })),
  claimed('for another organization', 'aud', ({ foreignAudience }) => ({ aud: foreignAudience })),
  claimed('for two organizations', 'aud', ({ audience, foreignAudience }) => ({
    aud: [audience, foreignAudience],
  })),
  claimed('for the organization twice', 'aud', ({ audience }) => ({ aud: [audience, audience] })),
  claimed('for nobody', 'aud', () => ({ aud: [] })),
  claimed('with a list in aud', 'aud', ({ audience }) => ({ aud: [[audience]] })),
  claimed('with a slash after aud', 'aud', ({ audience }) => ({ aud: `${audience}/` })),
  claimed('with aud in capitals', 'aud', ({ audience }) => ({ aud: audience.toUpperCase() })),
  claimed('with the start of aud', 'aud', ({ audience }) => ({ aud: audience.slice(0, -1) })),
  claimed('with the default audience of GitHub', 'aud', () => ({ aud: 'https://github.com/octo-org' })),
  claimed('with a number as aud', 'aud', () => ({ aud: 7 })),
];

const TIMES: readonly Forgery[] = [
  claimed('that expired', 'exp', () => ({ exp: now() - 90, iat: now() - 300, nbf: now() - 300 })),
  claimed('without exp', 'exp', () => ({ exp: undefined })),
  claimed('with a text as exp', 'exp', () => ({ exp: String(now() + 300) })),
  claimed('with null as exp', 'exp', () => ({ exp: null })),
  claimed('with a negative exp', 'exp', () => ({ exp: -1 })),
  [
    'that never expires',
    'exp',
    async (bench) => {
      const text = JSON.stringify(claimsOf(bench)).replace(/"exp":\d+/, '"exp":1e999');
      return raw(RSA, text, bench.issuer.key('rsa'));
    },
  ],
  claimed('without iat', 'iat', () => ({ iat: undefined })),
  claimed('issued twelve minutes ago', 'iat', () => ({ iat: now() - 720 })),
  claimed('issued in five minutes', 'iat', () => ({ iat: now() + 300 })),
  claimed('with a text as iat', 'iat', () => ({ iat: String(now()) })),
  claimed('valid in five minutes', 'nbf', () => ({ nbf: now() + 300 })),
  claimed('with a text as nbf', 'nbf', () => ({ nbf: 'now' })),
  claimed('with null as jti', 'jti', () => ({ jti: null })),
  claimed('with an empty jti', 'jti', () => ({ jti: '' })),
  claimed('with a long jti', 'jti', () => ({ jti: 'j'.repeat(256) })),
  claimed('with a number as jti', 'jti', () => ({ jti: 7 })),
  ['that was exchanged before', 'jti', async ({ used }) => used],
];

const JOBS: readonly Forgery[] = [
  claimed('of another repository', 'repository_id', () => ({ repository_id: '75' })),
  claimed('of a repository with a similar id', 'repository_id', () => ({ repository_id: '074' })),
  claimed('of a repository with a blank', 'repository_id', () => ({ repository_id: '74 ' })),
  claimed('with a list of repositories', 'repository_id', () => ({ repository_id: ['74'] })),
  claimed('with an object as repository', 'repository_id', () => ({ repository_id: { id: '74' } })),
  claimed('without a repository', 'repository_id', () => ({ repository_id: undefined })),
  claimed('with a fraction as repository', 'repository_id', () => ({ repository_id: 74.5 })),
  claimed('of another owner', 'repository_owner_id', () => ({ repository_owner_id: '66' })),
  claimed('of another environment', 'environment', () => ({ environment: 'staging' })),
  claimed('of an environment in capitals', 'environment', () => ({ environment: 'Production' })),
  claimed('without an environment', 'environment', () => ({ environment: undefined })),
  claimed('with null as environment', 'environment', () => ({ environment: null })),
  claimed('of a longer branch', 'ref', () => ({ ref: 'refs/heads/main2' })),
  claimed('of a branch beside the pattern', 'ref', () => ({ ref: 'refs/heads/releases/1' })),
  claimed('of the pattern itself without its end', 'ref', () => ({ ref: 'refs/heads/release' })),
  claimed('of a pull request', 'ref', () => ({ ref: 'refs/pull/7/merge' })),
  claimed('of pull_request_target', 'event_name', () => ({ event_name: 'pull_request_target' })),
  claimed('of issue_comment', 'event_name', () => ({ event_name: 'issue_comment' })),
  claimed('of workflow_run', 'event_name', () => ({ event_name: 'workflow_run' })),
  claimed('without an event', 'event_name', () => ({ event_name: undefined })),
  claimed('with a list of events', 'event_name', () => ({ event_name: ['push'] })),
];

/** Rightly signed tokens of other jobs, times, issuers and audiences. */
export const FORGED_CLAIMS: readonly Forgery[] = [...ISSUERS, ...AUDIENCES, ...TIMES, ...JOBS];
