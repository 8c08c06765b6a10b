import { getRouteApi, Link } from '@tanstack/react-router';
import { useEffect, useRef, type RefObject } from 'react';
import { Loaded, Page } from '../../ui';
import styles from './resources.module.css';
import { CredentialStep } from './set-up-credential';
import { DoneStep } from './set-up-done';
import { ResourceStep } from './set-up-resource';
import { RoleStep } from './set-up-role';
import { backTo, STEPS, stepOf, TITLES, type SetUpSearch } from './set-up-steps';
import { useTypes, type ProviderTypes } from './types';

const route = getRouteApi('/signed-in/administrator/set-up');

/** From nothing to the first access: a credential, a resource, a role, and people. */
export function SetUp() {
  const search = route.useSearch();
  const at = STEPS.indexOf(stepOf(search));
  const steps = useFocusOnChange(at);
  return (
    <Page title="Set up access" lead="Three short forms lead from your provider to the first access.">
      <nav aria-label="Steps" ref={steps} tabIndex={-1}>
        <ol className={styles['steps']}>
          {STEPS.map((each, index) => (
            <li key={each} data-done={index < at} {...(index === at ? { 'aria-current': 'step' } : {})}>
              {index < at ? (
                <Link to="/set-up" search={backTo(each, search)}>
                  {TITLES[each]}
                </Link>
              ) : (
                TITLES[each]
              )}
            </li>
          ))}
        </ol>
      </nav>
      <Loaded query={useTypes()}>{(types) => <Step search={search} types={types} />}</Loaded>
    </Page>
  );
}

/** A step replaces another without a page being loaded: the keyboard begins above it again. */
function useFocusOnChange(at: number): RefObject<HTMLElement | null> {
  const element = useRef<HTMLElement>(null);
  const before = useRef(at);
  useEffect(() => {
    if (before.current !== at) element.current?.focus();
    before.current = at;
  }, [at]);
  return element;
}

function Step({ search, types }: { readonly search: SetUpSearch; readonly types: readonly ProviderTypes[] }) {
  const navigate = route.useNavigate();
  /** @param replace the step left is not one to come back to */
  const go = (to: SetUpSearch, replace = false): void =>
    void navigate({ search: { ...search, ...to }, replace });
  const step = stepOf(search);
  if (step === 'credential') return <CredentialStep types={types} id={search.credential} go={go} />;
  if (step === 'resource')
    return <ResourceStep types={types} credentialId={search.credential!} id={search.resource} go={go} />;
  if (step === 'role') return <RoleStep resourceId={search.resource!} go={go} />;
  return <DoneStep roleId={search.role!} />;
}
