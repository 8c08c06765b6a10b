import type { Visitor } from '../../harness/console/browser';
import type { TestConsole } from '../../harness/console/console';
import type { Drawbridge } from '../../harness/product/drawbridge';
import { ownerWithMfa, type AccountOwner } from '../accounts/accounts';

/** Ways through the console's first screen. */
export const consoleSignIn = (drawbridge: Drawbridge, site: TestConsole) => {
  const enters = async (visitor: Visitor, address: string, password: string): Promise<void> => {
    await visitor.goto('/sign-in');
    await visitor.fill('E-mail', address);
    await visitor.fill('Password', password);
    await visitor.click('button', 'Sign in');
  };
  const signingIn = async (owner: AccountOwner): Promise<Visitor> => {
    const visitor = await site.stranger();
    await enters(visitor, owner.email, owner.password);
    return visitor;
  };
  const challenged = async (): Promise<{ visitor: Visitor; owner: AccountOwner }> => {
    const owner = await ownerWithMfa(drawbridge);
    return { owner, visitor: await signingIn(owner) };
  };
  return { enters, signingIn, challenged };
};
