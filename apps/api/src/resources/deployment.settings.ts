/** Which Drawbridge this is: its marks in the clouds carry the id. */
export class DeploymentSettings {
  constructor(readonly id: string) {}
}
