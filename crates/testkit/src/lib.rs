//! Test-only: hermetic environment, scripted agents, scripted model server.
