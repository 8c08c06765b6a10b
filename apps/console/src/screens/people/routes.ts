import { administratorScreen } from '../../parts/screens';
import { id, oneOf, page, searchOf, text } from '../../parts/search';
import { USER_STATUS, type User } from './parts';

const STATUSES = Object.keys(USER_STATUS) as User['status'][];
const ofPeople = searchOf({ search: text, status: oneOf(STATUSES), page });
const ofAutomation = searchOf({ tab: oneOf(['service-users', 'trusts']), page });
const ofNewTrust = searchOf({ preset: text });
const onePage = searchOf({ page });

export const peopleRoutes = [
  administratorScreen('/people', () => import('./people'), 'People', ofPeople),
  administratorScreen('/people/invite', () => import('./invite'), 'Invite', searchOf({ roleId: id })),
  administratorScreen('/people/$id', () => import('./person'), 'Person', onePage),
  administratorScreen('/roles', () => import('./roles'), 'Roles', onePage),
  administratorScreen('/roles/new', () => import('./roles'), 'NewRole'),
  administratorScreen('/roles/$id', () => import('./roles'), 'Role'),
  administratorScreen('/automation', () => import('./automation'), 'Automation', ofAutomation),
  administratorScreen('/automation/keys/new', () => import('./keys'), 'NewKey', searchOf({ userId: id })),
  administratorScreen('/automation/trusts/new', () => import('./trusts'), 'NewTrust', ofNewTrust),
  administratorScreen('/automation/trusts/$id', () => import('./trust'), 'Trust'),
] as const;
