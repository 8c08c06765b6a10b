import { Link } from '@tanstack/react-router';
import { useAll, type Schemas } from '../../api';
import { Copyable, Loaded, Muted, Notice } from '../../ui';
import type { Trust } from './trusts';

/** What to paste into a CI job, with the resources that it reaches. */
export function JobLines({ trust }: { readonly trust: Trust }) {
  const roles = useAll('/api/v1/roles');
  const resources = useAll('/api/v1/resources');
  const own = (roles.data ?? []).filter(({ userIds }) => userIds.includes(trust.serviceUserId));
  const reached = new Set(own.flatMap(({ resourceIds }) => resourceIds));
  return (
    <Loaded query={resources}>
      {(all) => (
        <>
          {reached.size === 0 && roles.data ? (
            <Notice tone="warn">
              Its jobs reach nothing yet: give{' '}
              <Link to="/people/$id" params={{ id: trust.serviceUserId }}>
                its service user
              </Link>{' '}
              a role with a resource.
            </Notice>
          ) : null}
          <Copyable
            text={linesFor(trust, all.filter(({ id }) => reached.has(id)).map(nameOf))}
            label="Lines for the job"
          />
          <Muted>
            {trust.preset === 'GITHUB'
              ? 'The access lasts until the end of the job. The action is in apps/action of Drawbridge’s repository: name your copy of it, and a commit.'
              : 'The access lasts as long as the command after --. An ID token is accepted once, within ten minutes: begin with it.'}
          </Muted>
        </>
      )}
    </Loaded>
  );
}

/** The name where it means nothing else to YAML and the shell, otherwise the id. */
const nameOf = ({ id, name }: Schemas['ResourceDto']): string => (/^[a-z][\w.-]*$/i.test(name) ? name : id);

function linesFor({ preset, audience, conditions }: Trust, resources: readonly string[]): string {
  const url = audience.replace(/\/o\/[^/]+$/, '');
  const run = `node drawbridge.mjs run ${resources.map((name) => `--resource ${name} `).join('')}-- ./deploy.sh`;
  const [named] = conditions['environment'] ?? [];
  const environment = named === undefined ? '' : `\n  environment: ${JSON.stringify(named)}`;
  const lines: Readonly<Record<Trust['preset'], string>> = {
    GITHUB: `permissions:
  id-token: write
  contents: read
jobs:
  deploy:
    runs-on: ubuntu-latest${environment.replace('  ', '    ')}
    steps:
      - uses: actions/checkout@v4
      - uses: your-organization/drawbridge/apps/action@COMMIT
        with:
          url: ${url}
          trust: ${audience}
          resources: ${resources.join(', ')}
      - run: ./deploy.sh`,
    GITLAB: `deploy:
  image: node:22${environment}
  id_tokens:
    DRAWBRIDGE_ID_TOKEN:
      aud: ${audience}
  variables:
    DRAWBRIDGE_URL: ${url}
  script:
    - curl -fsSLO "$DRAWBRIDGE_URL/downloads/drawbridge.mjs"
    - ${run}`,
    BUILDKITE: `steps:
  - command: |
      export DRAWBRIDGE_URL=${url}
      export DRAWBRIDGE_ID_TOKEN=$$(buildkite-agent oidc request-token --claim organization_id --claim pipeline_id \\
        --audience ${audience})
      curl -fsSLO "$$DRAWBRIDGE_URL/downloads/drawbridge.mjs"
      ${run}`,
    CUSTOM: `export DRAWBRIDGE_URL=${url}
export DRAWBRIDGE_ID_TOKEN=… # issued for ${audience}
curl -fsSLO "$DRAWBRIDGE_URL/downloads/drawbridge.mjs"
${run}`,
  };
  return lines[preset];
}
