export { $api, api, openApi, type Schemas } from './client';
export { serverNow } from './clock';
export { silentSince, watchNetwork } from './contact';
export { dismissEnding, unanswered, untilAnswered, type Ending } from './endings';
export { asFailure, Failure } from './failure';
export { Followed } from './followed';
export {
  listOf,
  live,
  queryClient,
  useList,
  type ItemOf,
  type List,
  type ListParameters,
  type ListPath,
} from './queries';
export {
  acceptTokens,
  deviceToken,
  refresh,
  resume,
  signIn,
  signOut,
  watchActivity,
  watchOtherTabs,
  type SignIn,
} from './sign-in';
