import { Input, required } from '../control/input';
import { ok, type Route } from '../control/route';
import { CLIENT_ID, CLIENT_SECRET, type Issuer } from './issuer';
import { MANNER_NAMES, MANNERS, REFUSALS } from './manners';
import { GROUP } from './people';

/** The control interface of the identity provider: what its administrator does, and its outages. */
export const issuerRoutes = (issuer: Issuer): Readonly<Record<string, Route>> => {
  const { people } = issuer;
  const described = () =>
    ok({
      issuer: issuer.url,
      clientId: CLIENT_ID,
      clientSecret: CLIENT_SECRET,
      actsAs: people.manner,
      groupsClaim: MANNERS[people.manner].groupsClaim,
      group: GROUP,
      isDown: people.isDown,
      people: people.list(),
    });
  return {
    'GET /_issuer': described,
    'PUT /_issuer': ({ body }) => {
      const input = Input.fromJson(body, ['isDown', 'actsAs']);
      people.isDown = input.flag('isDown') ?? people.isDown;
      people.manner = input.oneOf('actsAs', MANNER_NAMES) ?? people.manner;
      return described();
    },
    'PUT /_people': ({ body }) => {
      const input = Input.fromJson(body, ['subject', 'groups', 'isDisabled', 'refusal']);
      const subjects = people.list().map(({ subject }) => subject);
      const subject = required('subject', input.oneOf('subject', subjects), subjects);
      const person = people.list().find((one) => one.subject === subject)!;
      person.groups = input.texts('groups') ?? person.groups;
      person.isDisabled = input.flag('isDisabled') ?? person.isDisabled;
      person.refusal = input.oneOf('refusal', REFUSALS) ?? person.refusal;
      return described();
    },
  };
};
