//! The Model Context Protocol on stdio, by its official crate. Only this module names it.

use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};

use crate::job_tools::{JobTools, Reply};

/// Why the server ended badly.
#[derive(Debug, thiserror::Error)]
#[error("failed to serve MCP on standard input and output: {0}")]
pub struct McpError(String);

/// Serves the tools of one job on standard input and output until the client closes them.
///
/// # Errors
/// The client does not speak the protocol, or the pipe broke before it was set up.
pub async fn serve_stdio(tools: JobTools, version: &str) -> Result<(), McpError> {
    let server = JobServer { tools: Arc::new(tools), version: version.to_owned() };
    let running = server.serve(rmcp::transport::stdio()).await.map_err(|error| McpError(error.to_string()))?;
    running.waiting().await.map_err(|error| McpError(error.to_string()))?;
    Ok(())
}

struct JobServer {
    tools: Arc<JobTools>,
    version: String,
}

impl ServerHandler for JobServer {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("planex", self.version.clone()))
            .with_instructions("Tools of the planex job you are running in: read your task, share discoveries, report.")
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = self.tools.tools();
        Ok(ListToolsResult::with_all_items(
            tools.into_iter().map(|tool| Tool::new(tool.name, tool.description, Arc::new(tool.input))).collect(),
        ))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let tools = Arc::clone(&self.tools);
        let reply =
            tokio::task::spawn_blocking(move || tools.call(&request.name, &request.arguments.unwrap_or_default()))
                .await
                .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        let result = match reply {
            Reply::Done(text) => CallToolResult::success(vec![ContentBlock::text(text)]),
            Reply::Refused(text) => CallToolResult::error(vec![ContentBlock::text(text)]),
        };
        Ok(result.into())
    }
}
