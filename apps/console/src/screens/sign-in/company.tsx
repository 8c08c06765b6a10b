import { getRouteApi, Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { asFailure, deviceToken, Failure, openApi, type Schemas } from '../../api';
import { Action, Button, ButtonLink, Copyable, Form, Loading, Notice, Page, TextField } from '../../ui';
import { leaveForIssuer, rememberedOrganization, takeAnswer, takeAttempt } from './company-attempt';
import { IN_COOKIE, SignsIn, type OnAnswer } from './steps';

const route = getRouteApi('/open/sign-in/company');
const UNKNOWN = 'has no company sign-in: check its short name';

/** Asks for the organization, and leaves for its issuer. */
export function CompanySignIn() {
  const { organization = rememberedOrganization(), ...search } = route.useSearch();
  const { next = '/' } = search;
  const [found, setFound] = useState<{
    slug: string;
    providers: Schemas['OfferedProvidersDto']['items'];
  } | null>(null);
  const find = async (slug: string): Promise<void> => {
    const of = { params: { path: { slug } } };
    const { items: providers } = (await openApi.GET('/api/v1/auth/sso/{slug}/providers', of)).data!;
    const [first, second] = providers;
    if (!first) throw new Failure(UNKNOWN, 404, 'NOT_FOUND', { organization: UNKNOWN });
    if (second) setFound({ slug, providers });
    else await leaveForIssuer(slug, first.id, next);
  };
  return (
    <SignsIn next={next}>
      {() => (
        <Page title="Sign in with your company">
          {found ? (
            <>
              {found.providers.map(({ id, name }) => (
                <Action key={id} label={name} act={() => leaveForIssuer(found.slug, id, next)} />
              ))}
              <Button kind="plain" onClick={() => setFound(null)}>
                Another organization
              </Button>
            </>
          ) : (
            <Form submit="Continue" send={(entered) => find(entered.text('organization').toLowerCase())}>
              <TextField
                name="organization"
                label="Organization"
                autoComplete="organization"
                autoCapitalize="none"
                autoFocus
                defaultValue={organization}
                help="Its short name, which is in your invitation."
              />
            </Form>
          )}
          <Link to="/sign-in" search={search}>
            Sign in with a password
          </Link>
        </Page>
      )}
    </SignsIn>
  );
}

/** Where the issuer leads back to. */
export function CompanySignInReturn() {
  const [answer] = useState(takeAnswer);
  const [attempt] = useState(takeAttempt);
  const code = answer.get('code');
  // also of a link that was sent, whose text is not shown
  if (attempt === null) return <Refused reason="This sign-in was not started in this tab, or it is over." />;
  if (code === null) return <Refused reason={answer.get('message') ?? 'The sign-in did not succeed.'} />;
  return (
    <SignsIn next={attempt.next}>
      {(onAnswer) => <Completion code={code} verifier={attempt.verifier} onAnswer={onAnswer} />}
    </SignsIn>
  );
}

function Completion({ onAnswer, ...given }: { code: string; verifier: string; onAnswer: OnAnswer }) {
  const [failed, setFailed] = useState<unknown>(null);
  useEffect(() => {
    const complete = async (): Promise<void> => {
      const body = { ...given, ...deviceToken(), ...IN_COOKIE };
      onAnswer((await openApi.POST('/api/v1/auth/sso/complete', { body })).data!);
    };
    complete().catch(setFailed);
    // a code is sent once
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [given.code]);
  return failed ? <Refused reason={asFailure(failed).message} /> : <Loading what="Signing in" />;
}

const Refused = ({ reason }: { reason: string }) => (
  <Page title="You are not signed in">
    <Notice tone="bad" announced>
      {reason}
    </Notice>
    <ButtonLink to="/sign-in/company">Start again</ButtonLink>
    <Link to="/sign-in">Sign in with a password</Link>
  </Page>
);

/** Shows the code of a sign-in that a terminal without a browser began. */
export function TerminalCode() {
  const [answer] = useState(takeAnswer);
  const code = answer.get('code');
  // a word at most: a link from another person shows no text of theirs
  const [error = 'it is over'] = /^[a-z-]{1,20}$/.exec(answer.get('error') ?? '') ?? [];
  if (code === null)
    return (
      <Page title="The terminal is not signed in">
        <Notice tone="bad" announced>
          The sign-in did not succeed: {error.replaceAll('-', ' ')}. Start again in the terminal.
        </Notice>
      </Page>
    );
  return (
    <Page title="Sign in a terminal">
      <Notice tone="warn">
        Use this code only if you started this sign-in yourself. Never pass it on: with it, the one who
        started the sign-in acts as you.
      </Notice>
      <p>Paste it into the terminal within a minute, and close this page.</p>
      <Copyable text={code} label="Code" />
    </Page>
  );
}
