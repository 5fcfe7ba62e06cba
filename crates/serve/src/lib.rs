//! The MCP server: a thin skin over the engine.
