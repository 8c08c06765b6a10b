import { getRouteApi, Link } from '@tanstack/react-router';
import { Loaded, Page, Tabs } from '../../ui';
import { CredentialStep, DoneStep, ResourceStep, RoleStep } from './set-up-steps';
import { useTypes } from './types';

const route = getRouteApi('/signed-in/administrator/set-up');

/** From nothing to the first access: a credential, a resource, a role, and people. */
export function SetUp() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { credential, resource, role } = search;
  // with what those before have made: a step that one goes back to asks again
  const steps = [
    { title: 'Credential', isOpen: true, to: { step: 'credential' } },
    { title: 'Resource', isOpen: Boolean(credential), to: { step: 'resource', credential } },
    { title: 'Role', isOpen: Boolean(resource), to: { step: 'role', credential, resource } },
    { title: 'Let people in', isOpen: Boolean(role), to: { step: 'done', credential, resource, role } },
  ] as const;
  const at = steps.findIndex(({ isOpen, to }) => isOpen && to.step === search.step);
  const current = steps[Math.max(0, at)]!;
  const { step } = current.to;
  /** @param replace the step left is not one to come back to */
  const go = (to: typeof search, replace = false): void =>
    void navigate({ search: { ...search, ...to }, replace });
  return (
    <Page title="Set up access" lead="Three short forms lead from your provider to the first access.">
      <Tabs label="Steps">
        {steps.map((each, index) => (
          <Link
            key={each.title}
            to="/set-up"
            search={each.to}
            disabled={index > at}
            aria-current={each === current ? 'page' : undefined}
          >
            {index + 1}. {each.title}
          </Link>
        ))}
      </Tabs>
      <Loaded query={useTypes()}>
        {(types) => (
          <>
            {step === 'credential' ? <CredentialStep types={types} id={credential} go={go} /> : null}
            {step === 'resource' && credential ? (
              <ResourceStep types={types} credentialId={credential} id={resource} go={go} />
            ) : null}
            {step === 'role' && resource ? <RoleStep resourceId={resource} go={go} /> : null}
            {step === 'done' ? <DoneStep /> : null}
          </>
        )}
      </Loaded>
    </Page>
  );
}
