import { FAULT_KINDS } from '../faults/fault-script';

/** The page's script: polls the control interface once a second. */
export const SCRIPT = `
'use strict';
const KINDS = ${JSON.stringify(FAULT_KINDS)};
const byId = (id) => document.getElementById(id);
const make = (tag, className, text) => {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
};

const request = async (method, path, body) => {
  const response = await fetch(path, { method, ...(body ? { body: JSON.stringify(body) } : {}) });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.message);
  return answer;
};

const ports = (rule) => {
  if (rule.fromPort === null) return rule.protocol === 'all' ? 'everything' : rule.protocol;
  const range = rule.fromPort === rule.toPort ? rule.fromPort : rule.fromPort + '–' + rule.toPort;
  return rule.protocol + ' ' + (rule.fromPort === 0 && rule.toPort === 65535 ? 'all ports' : range);
};
const clockTime = (micros) => {
  const date = new Date(micros / 1000);
  return date.toLocaleTimeString([], { hour12: false }) + '.' + String(date.getMilliseconds()).padStart(3, '0');
};
const age = (micros) => {
  const seconds = Math.max(0, Math.floor(Date.now() / 1000 - micros / 1e6));
  if (seconds < 60) return seconds + ' s';
  if (seconds < 3600) return Math.floor(seconds / 60) + ' min ' + (seconds % 60) + ' s';
  return Math.floor(seconds / 3600) + ' h ' + Math.floor((seconds % 3600) / 60) + ' min';
};

const cards = new Map();
const rows = new Map();

const makeRow = (rule) => {
  const row = make('li', 'rule new ' + (rule.ours ? 'ours' : 'unmanaged'));
  row.append(make('span', 'where mono', rule.address));
  row.append(make('span', 'badge', rule.ours ? 'Drawbridge' : 'unmanaged'));
  const remove = make('button', 'small', 'remove');
  remove.title = 'Remove this rule without Drawbridge';
  remove.onclick = () => {
    const query = { provider: rule.provider, target: rule.target, address: rule.address, protocol: rule.protocol };
    if (rule.fromPort !== null) Object.assign(query, { fromPort: rule.fromPort, toPort: rule.toPort });
    request('DELETE', '/_rules?' + new URLSearchParams(query)).then(refresh, showError);
  };
  row.append(remove);
  row.append(make('span', 'detail', ''));
  return row;
};

const showRules = (rules) => {
  const present = new Set();
  for (const rule of rules) {
    const key = rule.provider + ' ' + rule.target + ' ' + rule.providerRuleId + ' ' + rule.ours;
    present.add(key);
    if (!rows.has(key)) {
      rows.set(key, makeRow(rule));
      cards.get(rule.provider + ' ' + rule.target)?.list.append(rows.get(key));
    }
    rows.get(key).querySelector('.detail').textContent = ports(rule) + ', open for ' + age(rule.since);
  }
  for (const [key, row] of rows) {
    if (present.has(key)) continue;
    rows.delete(key);
    row.classList.remove('new');
    row.classList.add('gone');
    setTimeout(() => row.remove(), 1400);
  }
  const closed = [];
  for (const card of cards.values()) {
    const open = rules.filter((rule) => rule.provider === card.provider && rule.target === card.target).length;
    card.element.classList.toggle('open', open > 0);
    card.count.textContent = open === 0 ? 'closed' : open + ' open';
    card.element.hidden = open === 0 && !card.list.firstChild && !card.pinned;
    if (card.element.hidden) closed.push(card);
  }
  byId('closed').replaceChildren(closed.length === 0 ? '' : 'Closed to everyone: ');
  closed.forEach(({ provider, target }, index) => {
    const isFirst = provider !== closed[index - 1]?.provider;
    const between = (index === 0 ? '' : isFirst ? '; ' : ', ') + (isFirst ? provider + ' ' : '');
    byId('closed').append(between, make('span', 'mono name', target));
  });
};

const showTimeline = (entries) => {
  const list = byId('timeline');
  const newest = entries.at(-1)?.at ?? 0;
  if (list.dataset.newest === String(newest) && list.firstChild) return;
  list.dataset.newest = String(newest);
  list.replaceChildren(...entries.toReversed().map((entry) => {
    const item = make('li', entry.event);
    const what = make('span', 'what');
    const owner = entry.ours ? 'Drawbridge' : 'unmanaged';
    what.append(make('b', '', entry.event), ' ', make('span', 'mono', entry.address), ' ' + ports(entry) + ' on ' + entry.provider + ' ');
    what.append(make('span', 'mono name', entry.target), ' (' + owner + ')');
    item.append(make('time', 'mono', clockTime(entry.at)), what);
    return item;
  }));
  if (entries.length === 0) list.append(make('li', 'empty', 'No rule was opened or closed yet.'));
};

const showFaults = (faults) => {
  byId('clear').hidden = faults.length === 0;
  byId('faults').replaceChildren(...faults.map((fault) => {
    const item = make('li');
    const where = ' on ' + fault.provider + ' ' + (fault.target ?? 'every target') + (fault.operation ? ', ' + fault.operation : '');
    const left = fault.count === undefined ? '' : ' of ' + fault.count;
    const end = fault.endsAt === null ? '' : ', ' + Math.max(0, Math.ceil((Date.parse(fault.endsAt) - Date.now()) / 1000)) + ' s left';
    item.append(make('b', '', fault.kind), where + ': hit ' + fault.hits + left + end);
    return item;
  }));
};

const small = (text, act) => Object.assign(make('button', 'small', text), { onclick: () => act().then(refresh, showError) });

const showIssuer = ({ people, isDown, group }) => {
  const list = byId('people');
  const shown = JSON.stringify({ people, isDown });
  if (list.dataset.shown === shown) return;
  list.dataset.shown = shown;
  byId('down').textContent = isDown ? 'bring it back' : 'take it down';
  byId('down').onclick = () => request('PUT', '/_issuer', { isDown: !isDown }).then(refresh, showError);
  list.replaceChildren(...people.map(({ subject, name, email, groups, isDisabled }) => {
    const item = make('li');
    const set = (change) => () => request('PUT', '/_people', { subject, ...change });
    const isIn = groups.includes(group);
    const others = groups.filter((one) => one !== group);
    item.append(make('b', '', name), ' ' + email + (isDisabled ? ', disabled ' : ' '));
    item.append(small((isIn ? 'take out of ' : 'put into ') + group, set({ groups: isIn ? others : [...others, group] })), ' ');
    item.append(small(isDisabled ? 'enable' : 'disable', set({ isDisabled: !isDisabled })));
    return item;
  }));
};

const showError = (error) => {
  byId('link').className = 'lost';
  byId('link').textContent = error instanceof TypeError ? 'no connection, retrying' : error.message;
};

const refresh = async () => {
  const [rules, timeline, faults, issuer] = await Promise.all([
    request('GET', '/_rules'), request('GET', '/_timeline?limit=100'), request('GET', '/_faults'), request('GET', '/_issuer'),
  ]);
  showRules(rules);
  showTimeline(timeline);
  showFaults(faults);
  showIssuer(issuer);
  byId('link').className = '';
  byId('link').textContent = rules.length === 1 ? 'live, 1 rule open' : 'live, ' + rules.length + ' rules open';
};

const makeCard = (provider, target, pinned) => {
  const element = make('article', 'card');
  const head = make('header');
  const count = make('span', 'count');
  const list = make('ul');
  const name = make('b', 'mono', target);
  head.append(make('span', 'provider', provider), name, count);
  element.append(head, list);
  byId('targets').append(element);
  cards.set(provider + ' ' + target, { provider, target, element, count, list, pinned });
};

const values = (form) => Object.fromEntries([...new FormData(form)].filter(([, value]) => value !== ''));
const onSubmit = (id, act) => {
  const form = byId(id);
  form.onsubmit = async (event) => {
    event.preventDefault();
    const message = form.querySelector('.message');
    try {
      await act(values(form));
      message.textContent = '';
      await refresh();
    } catch (error) {
      message.textContent = error.message;
    }
  };
};

const start = async () => {
  const providers = await request('GET', '/_providers');
  const option = (text, value) => Object.assign(make('option', '', text), { value });
  for (const { provider, targets, operations } of providers) {
    targets.forEach((target, index) => makeCard(provider, target, index < 2));
    document.querySelectorAll('select[name=target]').forEach((select) => {
      const group = Object.assign(make('optgroup'), { label: provider });
      group.append(...targets.map((target) => option(target, provider + ' ' + target)));
      select.append(group);
    });
    byId('fault').operation.append(...operations.map((name) => option(name, name)));
  }
  byId('fault').kind.append(...KINDS.map((kind) => option(kind, kind)));

  const split = (value) => {
    const [provider, target] = (value ?? providers[0].provider + ' ').split(' ');
    return target ? { provider, target } : { provider };
  };
  onSubmit('unmanaged', ({ target, address, protocol, ports: range }) => {
    const [from, to] = (range ?? '').split('-');
    const given = from ? { fromPort: Number(from), toPort: Number(to ?? from) } : {};
    const hasPorts = protocol === 'tcp' || protocol === 'udp';
    return request('POST', '/_rules', { ...split(target), address, protocol, ...(hasPorts ? given : {}) });
  });
  onSubmit('fault', ({ target, count, seconds, delayMs, ...rest }) => {
    const numbers = Object.entries({ count, seconds, delayMs }).filter(([, value]) => value !== undefined);
    const order = Object.fromEntries(numbers.map(([name, value]) => [name, Number(value)]));
    return request('POST', '/_faults', { ...split(target), ...rest, ...order });
  });
  byId('clear').onclick = () => request('DELETE', '/_faults').then(refresh, showError);
  byId('reset').onclick = () => request('POST', '/_reset').then(refresh, showError);
};

const poll = async () => {
  try {
    if (cards.size === 0) await start();
    await refresh();
  } catch (error) {
    showError(error);
  }
  setTimeout(poll, 1000);
};
poll();
`;
