export { $api, api, openApi, type Schemas } from './client';
export { serverNow } from './clock';
export { dismissEnding, onEndingsChange, unansweredEndings, untilAnswered, type Ending } from './endings';
export { asFailure, Failure } from './failure';
export { live, queryClient, useAll, useList, type List } from './queries';
export {
  acceptTokens,
  currentSignIn,
  deviceToken,
  finishSetup,
  onSignInChange,
  refresh,
  resume,
  signOut,
  watchActivity,
  watchOtherTabs,
  type SignIn,
} from './sign-in';
