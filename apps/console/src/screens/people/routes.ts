import { administratorScreen } from '../../parts/screens';
import { id, list, listOn, searchOf, text } from '../../parts/search';

const ofAutomation = listOn(['service-users', 'trusts']);
const ofNewTrust = searchOf({ preset: text });
const ofRole = listOn(['users', 'resources']);

export const peopleRoutes = [
  administratorScreen('/people', () => import('./people'), 'People', list),
  administratorScreen('/people/invite', () => import('./invite'), 'Invite', searchOf({ roleId: id })),
  administratorScreen('/people/$id', () => import('./person'), 'Person', listOn(['resources'])),
  administratorScreen('/roles', () => import('./roles'), 'Roles', list),
  administratorScreen('/roles/new', () => import('./roles'), 'NewRole'),
  administratorScreen('/roles/$id', () => import('./roles'), 'Role', ofRole),
  administratorScreen('/automation', () => import('./automation'), 'Automation', ofAutomation),
  administratorScreen('/automation/keys/new', () => import('./keys'), 'NewKey', searchOf({ userId: id })),
  administratorScreen('/automation/trusts/new', () => import('./trusts'), 'NewTrust', ofNewTrust),
  administratorScreen('/automation/trusts/$id', () => import('./trust'), 'Trust'),
] as const;
