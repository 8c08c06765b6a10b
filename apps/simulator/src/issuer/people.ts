import type { MannerName, Refusal } from './manners';

/** A person whom the simulated identity provider knows. */
export interface Person {
  /** never changes: what an account is joined by */
  readonly subject: string;
  readonly name: string;
  readonly email: string;
  groups: readonly string[];
  isDisabled: boolean;
  /** why refresh tokens are refused until the next sign-in; null: they are not */
  refusal: Refusal | null;
}

export const GROUP = 'developers';

const initialPeople = (): Person[] => [
  {
    subject: 'simulated-developer',
    name: 'Demo Developer',
    email: 'developer@demo.example',
    groups: [GROUP],
    isDisabled: false,
    refusal: null,
  },
  {
    subject: 'simulated-guest',
    name: 'Demo Guest',
    email: 'guest@demo.example',
    groups: [],
    isDisabled: false,
    refusal: null,
  },
];

/** The people of the simulated identity provider, and whether it answers at all. */
export class People {
  isDown = false;
  /** which issuer it answers like */
  manner: MannerName = 'oidc-provider';
  private people = initialPeople();

  list(): readonly Person[] {
    return this.people;
  }

  /** @returns undefined for an unknown person, and for a disabled one */
  whoMaySignIn(subject: string): Person | undefined {
    return this.people.find((person) => person.subject === subject && !person.isDisabled);
  }

  /** Why refresh tokens of a person are refused; null: they are not. */
  refusalOf(subject: string): Refusal | null {
    const person = this.people.find((one) => one.subject === subject);
    return person?.isDisabled === false ? person.refusal : 'disabled';
  }

  /** Enables everybody, restores the groups, and ends an outage and an imitation. */
  reset(): void {
    this.isDown = false;
    this.manner = 'oidc-provider';
    this.people = initialPeople();
  }
}
