import { useQuery } from '@tanstack/react-query';
import type { paths } from '#client/schema';
import { api, type Schemas } from '../api';
import { Loaded, Notice, unbroken } from '../ui';
import { count } from './words';

type Plan = Schemas['ChangePlanDto'];

interface EffectsProps {
  readonly method: 'delete' | 'patch' | 'post';
  readonly path: keyof paths;
  readonly id?: string | null;
  readonly body?: object;
}

/** What a request would do, in the dialog that asks for it. */
export function Effects({ method, path, id, body }: EffectsProps) {
  const params = { path: { id }, query: { dryRun: true } };
  const plan = useQuery({
    queryKey: ['plan', method, path, id, body],
    queryFn: async ({ signal }) => {
      // one of the requests with a dry run stands for all: the answer to dryRun is a plan
      const one = path as '/api/v1/roles/{id}';
      const asked = {
        params: params as { path: { id: string } },
        body: body as Schemas['UpdateRoleDto'],
        signal,
      };
      const { data } = await api.request(method as 'patch', one, asked);
      return data as unknown as Plan;
    },
    // once for a dialog: not again when its act is done
    refetchInterval: false,
    staleTime: 'static',
    gcTime: 0,
  });
  return <Loaded query={plan}>{(planned) => <Planned plan={planned} />}</Loaded>;
}

const MAX_NAMED = 10;

function Planned({ plan: { refusal, rights, continuing, ends, opens } }: { plan: Plan }) {
  if (refusal) return <Notice tone="warn">It would be refused: {refusal.message}</Notice>;
  const { sessions, people, jobs, staticIpRules, rules } = ends;
  const numbers: readonly (readonly [string, number | null])[] = [
    ['People', people],
    ['Sessions of programs', jobs],
    ['Static IP rules that end', staticIpRules],
    ['Rules that close', rules],
    ['Rules that open', opens.rules],
    ['Sessions that stay open until they end, though not allowed any more', continuing.sessions],
  ];
  return (
    <>
      <p>
        This ends {count(sessions, 'open session')} at once.
        {numbers.map(([what, number]) => (number ? ` ${what}: ${number}.` : ''))}
      </p>
      <Rights of={rights.lost} what="Not allowed any more" />
      <Rights of={rights.gained} what="Allowed from now on" />
    </>
  );
}

function Rights({ of: { total, atMost, sample }, what }: { of: Plan['rights']['lost']; what: string }) {
  if (atMost === 0) return null;
  return (
    <div>
      <strong>
        {what}: {total ?? `at most ${atMost}`}
      </strong>
      <ul>
        {sample.slice(0, MAX_NAMED).map(({ userId, email, resourceId, resourceName }) => (
          <li key={`${userId} ${resourceId}`}>{unbroken(`${email} on ${resourceName}`)}</li>
        ))}
      </ul>
    </div>
  );
}
