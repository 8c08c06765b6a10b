/** Somebody whom the simulated identity provider knows. */
export interface Person {
  /** never changes: what an account is joined by */
  readonly subject: string;
  readonly name: string;
  readonly email: string;
  groups: readonly string[];
  isDisabled: boolean;
}

/** The one group. */
export const GROUP = 'developers';

const initialPeople = (): Person[] => [
  {
    subject: 'simulated-developer',
    name: 'Demo Developer',
    email: 'developer@demo.example',
    groups: [GROUP],
    isDisabled: false,
  },
  {
    subject: 'simulated-guest',
    name: 'Demo Guest',
    email: 'guest@demo.example',
    groups: [],
    isDisabled: false,
  },
];

/** The people of the simulated identity provider, and whether it answers at all. */
export class People {
  isDown = false;
  private people = initialPeople();

  list(): readonly Person[] {
    return this.people;
  }

  /** @returns undefined for an unknown person, and for a disabled one */
  whoMaySignIn(subject: string): Person | undefined {
    return this.people.find((person) => person.subject === subject && !person.isDisabled);
  }

  /** Enables everybody, restores the groups, and ends an outage. */
  reset(): void {
    this.isDown = false;
    this.people = initialPeople();
  }
}
