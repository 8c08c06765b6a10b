import { Option, type Command } from 'commander';
import { type Api, bodyOf, definedFields, everyPage, isId, named, shortId, visible } from '#client';
import { deciderOf, lackingText, type AccessRequest } from '../access/approval';
import { define, type Call } from '../program';
import { timeText } from '../terminal/times';

const CELL_CHARACTERS = 60;

type View = 'mine' | 'decide' | 'all' | 'review';

/** What is done to a request, and in which view it is found. */
const ACTIONS = {
  approve: { view: 'decide', about: 'approve an access request of another person' },
  deny: { view: 'decide', about: 'deny an access request of another person' },
  review: { view: 'review', about: 'acknowledge a session that another person started with --break-glass' },
  cancel: { view: 'mine', about: 'cancel your access request' },
} as const;

const viewOption = (view: View, what: string): Option =>
  new Option(`--${view}`, what).conflicts(['decide', 'all', 'review'].filter((other) => other !== view));

/** What people ask others to let them open. */
export function registerRequests(program: Command): void {
  define(program, {
    usage: 'requests',
    about: 'list your access requests, or those of others',
    examples: ['requests', 'requests --decide'],
    options: [
      viewOption('decide', 'those that you may approve or deny'),
      viewOption('all', 'those of the organization (administrators)'),
      viewOption('review', 'sessions without approval that are not reviewed (administrators)'),
    ],
    run: list,
  });
  for (const [action, { about }] of Object.entries(ACTIONS))
    define(program, {
      usage: `${action} <request>`,
      about,
      examples: [`${action} 3fa85f64`],
      options: action === 'cancel' ? [] : [new Option('--note <text>', 'shown with the decision')],
      run: (call: Call<{ note?: string }>) => decide(call, action as keyof typeof ACTIONS),
    });
}

const requests = (api: Api, view: View): Promise<AccessRequest[]> =>
  everyPage((page) => bodyOf(api.GET('/api/v1/access-requests', { params: { query: { view, ...page } } })));

async function list({ api, options, output }: Call<Partial<Record<View, boolean>>>): Promise<void> {
  const view = (['decide', 'all', 'review'] as const).find((one) => options[one]) ?? 'mine';
  const columns = {
    id: ({ id }: AccessRequest) => shortId(id),
    status: statusOf,
    ...(view === 'mine' ? {} : { who: ({ userEmail }: AccessRequest) => userEmail }),
    resources: resourcesOf,
    hours: ({ durationHours }: AccessRequest) => String(durationHours),
    from: fromOf,
    reason: (request: AccessRequest) => cut(reasonOf(request)),
    'decided by': (request: AccessRequest) => cut(request.decisions.map(deciderOf).toReversed().join(', ')),
    until: ({ decideBy, useBy }: AccessRequest) => (decideBy || useBy ? timeText(decideBy ?? useBy) : ''),
  };
  output.list('requests', await requests(api, view), columns, 'No access request.');
}

async function decide(
  { api, name, options: { note }, output }: Call<{ note?: string }>,
  action: keyof typeof ACTIONS,
): Promise<void> {
  const known = isId(name) ? [] : await requests(api, ACTIONS[action].view);
  const noun = { one: 'access request', several: 'access requests' };
  const id = isId(name) ? name : named(name, known, noun, (one) => [shortId(one.id)]).id;
  const body = definedFields({ note });
  const path = `/api/v1/access-requests/{id}/${action}` as '/api/v1/access-requests/{id}/approve';
  const request = await bodyOf(api.POST(path, { params: { path: { id } }, body }));
  output.result(request, detailsOf(request));
}

/** What it opens, for whom, from where, how long, and what was decided. */
function detailsOf(request: AccessRequest): string {
  const { id, status, userEmail, durationHours } = request;
  const lines = [
    `${shortId(id)}  ${statusOf(request)}`,
    `  ${userEmail}, ${durationHours} h, from ${fromOf(request)}: ${resourcesOf(request)}`,
    `  ${reasonOf(request)}`,
    ...request.decisions.map((one) => `  ${one.decision.toLowerCase()} by ${deciderOf(one)}`),
    ...(status === 'WAITING' ? [`  it needs ${lackingText(request)}`] : []),
  ];
  return lines.map(visible).join('\n');
}

/** While it waits, with how many have approved of how many. */
const statusOf = ({ status, approvals, approvalsNeeded }: AccessRequest): string =>
  status === 'WAITING' ? `${status} (${approvals} of ${approvalsNeeded})` : status;

/** What others have written may be long, and a list that is read by a program is as wide as its longest line. */
const cut = (text: string): string =>
  text.length > CELL_CHARACTERS ? `${text.slice(0, CELL_CHARACTERS - 1)}…` : text;

const resourcesOf = ({ resources, unavailableResourceIds }: AccessRequest): string =>
  resources
    .map(({ id, name }) => (unavailableResourceIds.includes(id) ? `${name} (no longer allowed)` : name))
    .join(', ');

const fromOf = ({ ipv4Address, ipv6Address }: AccessRequest): string =>
  [ipv4Address, ipv6Address].filter(Boolean).join(', ');

const reasonOf = ({ ticket, reason }: AccessRequest): string => [ticket, reason].filter(Boolean).join(': ');
