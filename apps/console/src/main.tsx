import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { createRoot } from 'react-dom/client';
import { onSignInChange, currentSignIn, queryClient, watchActivity, watchOtherTabs } from './api';
import { router } from './router';
import './ui/base.css';

watchActivity();
watchOtherTabs();
// nothing of one person is shown to the next
onSignInChange(() => {
  if (currentSignIn().state === 'out') queryClient.clear();
});

createRoot(document.getElementById('root')!).render(
  <QueryClientProvider client={queryClient}>
    <RouterProvider router={router} />
  </QueryClientProvider>,
);
